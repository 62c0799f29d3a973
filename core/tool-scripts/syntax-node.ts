import type { Node } from 'web-tree-sitter'
import type { SourcePosition } from './script-declarations.ts'

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

/** Every node under `root`, itself first, in source order. Iterative: deep nesting costs no stack. */
export function* walk(root: SyntaxNode): Generator<SyntaxNode> {
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node
    for (const child of node.children.toReversed()) if (child !== null) open.push(child)
  }
}
