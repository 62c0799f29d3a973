import type { Node, Tree } from 'web-tree-sitter'
import { codeIn, docstringOf } from '#python/docstring-expression.ts'

/** The 0-based rows of a module's docstrings. */
export function docstringRowsOf(tree: Tree): Set<number> {
  const rows = new Set<number>()
  const bodies: (Node | null)[] = [tree.rootNode]
  for (const definition of tree.rootNode.descendantsOfType(['function_definition', 'class_definition'])) {
    bodies.push(definition.childForFieldName('body'))
  }
  for (const body of bodies) {
    const docstring = body === null ? undefined : docstringOf(codeIn(body)[0])
    if (docstring === undefined) continue
    for (let row = docstring.startPosition.row; row <= docstring.endPosition.row; row++) rows.add(row)
  }
  return rows
}
