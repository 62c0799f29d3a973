import type { Tree } from 'web-tree-sitter'

/** The 1-based line of the first thing in a tree that does not parse, or undefined. */
export function firstErrorLine(tree: Tree): number | undefined {
  if (!tree.rootNode.hasError) return undefined
  const cursor = tree.walk()
  try {
    for (;;) {
      const { isError, isMissing, hasError, startPosition } = cursor.currentNode
      if (isError || isMissing) return startPosition.row + 1
      const moved = hasError ? cursor.gotoFirstChild() : cursor.gotoNextSibling()
      if (!moved) return undefined
    }
  } finally {
    cursor.delete()
  }
}
