import type { Node } from 'web-tree-sitter'

/**
 * Where an expression is handed on as a value, rather than called: as an argument, in a table, as a default, as what a
 * function answers, or stored in an object.
 */
export const valueQuery = `
(argument_list [(identifier) (attribute)] @value)
(keyword_argument value: [(identifier) (attribute)] @value)
(assignment left: [(attribute) (subscript)] right: [(identifier) (attribute)] @value)
(list [(identifier) (attribute)] @value)
(tuple [(identifier) (attribute)] @value)
(set [(identifier) (attribute)] @value)
(pair value: [(identifier) (attribute)] @value)
(return_statement [(identifier) (attribute)] @value)
(default_parameter value: [(identifier) (attribute)] @value)
(typed_default_parameter value: [(identifier) (attribute)] @value)
`

/** Functions that look at what they are given and keep nothing of it. */
const looksOnly =
  /^(?:isinstance|issubclass|super|len|str|repr|int|float|bool|print|id|hash|hasattr|cast|typing\.cast|type)$/

/** What the captured nodes hand on: bare names of which `isKnown` holds, and `.price` for an attribute such as `shop.price`. */
export function namesAsValues(captured: readonly Node[], isKnown: (name: string) => boolean): string[] {
  const names = new Set<string>()
  for (const node of captured) {
    const isBare = node.type === 'identifier'
    const name = isBare ? node.text : `.${node.childForFieldName('attribute')?.text ?? ''}`
    if (names.has(name) || (isBare && !isKnown(name))) continue
    if (!isLookedAtOnly(node)) names.add(name)
  }
  return [...names]
}

/** An argument of `isinstance` and its like, or a base class. */
function isLookedAtOnly(node: Node): boolean {
  let list = node.parent
  if (list?.type === 'keyword_argument') list = list.parent
  if (list?.type === 'tuple') list = list.parent
  if (list?.type !== 'argument_list') return false
  const owner = list.parent
  if (owner?.type === 'class_definition') return true
  return looksOnly.test(owner?.childForFieldName('function')?.text ?? '')
}
