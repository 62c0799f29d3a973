import type { Tree, TreeCursor } from 'web-tree-sitter'

const shownTextLength = 40

/** Writes a node per line, as queries see it. With `tokens` also anonymous nodes, in quotation marks. */
export function treeLines(tree: Tree, { tokens }: { tokens: boolean }): string[] {
  const lines: string[] = []
  const cursor = tree.walk()
  try {
    for (let depth = 0; depth >= 0;) {
      const { nodeIsNamed, nodeIsMissing } = cursor
      if (nodeIsNamed || nodeIsMissing || tokens) lines.push(`${'  '.repeat(depth)}${describe(cursor)}`)
      if (cursor.gotoFirstChild()) {
        depth++
        continue
      }
      while (depth >= 0 && !cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return lines
        depth--
      }
    }
    return lines
  } finally {
    cursor.delete()
  }
}

function describe(cursor: TreeCursor): string {
  const field = cursor.currentFieldName === null ? '' : `${cursor.currentFieldName}: `
  const missing = cursor.nodeIsMissing ? 'MISSING ' : ''
  if (!cursor.nodeIsNamed) return `${field}${missing}${JSON.stringify(cursor.nodeType)}`
  const { startPosition, endPosition, currentNode } = cursor
  const text = currentNode.namedChildCount > 0 ? '' : ` ${JSON.stringify(cursor.nodeText.slice(0, shownTextLength))}`
  return `${field}${missing}${cursor.nodeType} ${startPosition.row + 1}-${endPosition.row + 1}${text}`
}
