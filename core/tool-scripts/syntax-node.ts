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
  for (const { node } of walkLevels(root)) yield node
}

/** The same with how deep each node stands under `root`. */
export function* walkLevels(root: SyntaxNode): Generator<{ node: SyntaxNode; level: number }> {
  const open = [{ node: root, level: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next
    for (const child of next.node.children.toReversed()) {
      if (child !== null) open.push({ node: child, level: next.level + 1 })
    }
  }
}
