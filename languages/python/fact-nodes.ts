import type { Node, Tree } from 'web-tree-sitter'
import { importStatementTypes } from './imported-names.ts'

export type TypedNode = { type: string; node: Node }

/** Matches nodes whose children may be values that the code passes on. */
export const passingOn: ReadonlySet<string> = new Set(
  (
    'argument_list keyword_argument assignment boolean_operator conditional_expression default_parameter ' +
    'typed_default_parameter dictionary expression_list list pair return_statement set tuple'
  ).split(' '),
)

const types = [
  ...importStatementTypes,
  ...passingOn,
  'augmented_assignment',
  'attribute',
  'call',
  'string',
  'comment',
  'function_definition',
  'class_definition',
]

/** Finds the nodes from which a file's facts are read, in the order of the file: a search of a tree takes as long as all that is done with it. */
export function factNodesOf(tree: Tree): TypedNode[] {
  return tree.rootNode.descendantsOfType(types).map((node) => ({ type: node.type, node }))
}
