import type { Node } from 'web-tree-sitter'
import { faultAt, type LocatedFault, type ScriptFaultCode, type SourcePosition } from './script-declarations.ts'

export type SyntaxNode = Node

export function partsOf(node: SyntaxNode): SyntaxNode[] {
  return node.namedChildren.filter((child) => child !== null).filter(({ type }) => type !== 'comment')
}

export function positionOf(node: SyntaxNode): SourcePosition {
  return { line: node.startPosition.row + 1, column: node.startPosition.column + 1 }
}

/** `root` and every node under it, in source order. Iterative, so deep nesting needs no stack. */
export function* walk(root: SyntaxNode): Generator<SyntaxNode> {
  for (const { node } of walkLevels(root)) yield node
}

export function* walkLevels(root: SyntaxNode): Generator<{ node: SyntaxNode; level: number }> {
  const open = [{ node: root, level: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next
    for (const child of next.node.children.toReversed()) {
      if (child !== null) open.push({ node: child, level: next.level + 1 })
    }
  }
}

/** Returns `Input` or `external` where an expression is that name, with or without `grail.` before it. */
export function grailName(node: SyntaxNode | null | undefined): 'Input' | 'external' | undefined {
  const isOfGrail = node?.type === 'attribute' && node.childForFieldName('object')?.text === 'grail'
  const name = isOfGrail ? node.childForFieldName('attribute') : node
  if (name?.type !== 'identifier') return undefined
  return name.text === 'Input' || name.text === 'external' ? name.text : undefined
}

const maxMessage = 300

export function scriptFault(node: SyntaxNode, code: ScriptFaultCode, message: string): LocatedFault {
  const short = message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message
  return { ...faultAt(positionOf(node), code, short), endLine: node.endPosition.row + 1 }
}
