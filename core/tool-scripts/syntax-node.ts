import type { Node } from 'web-tree-sitter'
import type { LocatedFault, ScriptFaultCode, SourcePosition } from './script-declarations.ts'

export type SyntaxNode = Node

/** The node's named children without comments. */
export function partsOf(node: SyntaxNode): SyntaxNode[] {
  return node.namedChildren
    .filter((child) => child !== null && child.type !== 'comment')
    .filter((child) => child !== null)
}

export function positionOf(node: SyntaxNode): SourcePosition {
  return { line: node.startPosition.row + 1, column: node.startPosition.column + 1 }
}

/** `root` and every node under it, in source order. Iterative, so deep nesting needs no stack. */
export function* walk(root: SyntaxNode): Generator<SyntaxNode> {
  for (const { node } of walkLevels(root)) yield node
}

/** Like `walk`, with the depth of each node under `root`. */
export function* walkLevels(root: SyntaxNode): Generator<{ node: SyntaxNode; level: number }> {
  const open = [{ node: root, level: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next
    for (const child of next.node.children.toReversed()) {
      if (child !== null) open.push({ node: child, level: next.level + 1 })
    }
  }
}

type GrailName = 'Input' | 'external'

/** Whether an expression names `Input` or `external`, with or without `grail.` before it. */
export function grailName(node: SyntaxNode | null | undefined): GrailName | undefined {
  const name =
    node?.type === 'attribute' && node.childForFieldName('object')?.text === 'grail' ? attributeOf(node) : node
  if (name?.type !== 'identifier') return undefined
  return name.text === 'Input' || name.text === 'external' ? name.text : undefined
}

function attributeOf(node: SyntaxNode): SyntaxNode | null {
  return node.childForFieldName('attribute')
}

/** Messages quote the source, which may be long. */
const maxMessage = 300

/** A fault where the node begins; codes that start with W are warnings. */
export function scriptFault(node: SyntaxNode, code: ScriptFaultCode, message: string): LocatedFault {
  const severity = code.startsWith('W') ? 'warning' : 'error'
  const short = message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message
  return { ...positionOf(node), code, severity, message: short, endLine: node.endPosition.row + 1 }
}
