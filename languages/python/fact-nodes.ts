import { type Language, type Node, Query, type QueryMatch, type Tree } from 'web-tree-sitter'
import { getOrMake } from '#platform/cached-answers.ts'

/**
 * A name, or an attribute of something, that stands where values are passed on. `how` is the node around it where that matters; `kept`:
 * it is stored as it is; `used`: it may be.
 */
export type Value = {
  how: 'argument_list' | 'keyword_argument' | 'tuple' | 'other' | 'kept' | 'used'
  node: Node
  /** Is the last name of an attribute. */
  last: Node | undefined
}

/** Holds the nodes from which a file's facts are read, each list in the order of the file. */
export type FactNodes = {
  definitions: Node[]
  imports: Node[]
  /** Strings and comments. */
  texts: Node[]
  /** The names with which paths of attributes begin. */
  roots: Node[]
  values: Value[]
}

const valuesIn: Record<Value['how'], readonly string[]> = {
  argument_list: ['(argument_list VALUE)'],
  keyword_argument: ['(keyword_argument value: VALUE)'],
  tuple: ['(tuple VALUE)'],
  other: [
    ...['list', 'return_statement', 'set'].map((holder) => `(${holder} VALUE)`),
    ...['pair', 'default_parameter', 'typed_default_parameter'].map((holder) => `(${holder} value: VALUE)`),
  ],
  // A value that only gets another name of the file is not passed on.
  kept: ['(assignment left: [(attribute) (subscript)] right: VALUE)'],
  used: [
    ...['assignment', 'boolean_operator', 'conditional_expression', 'expression_list'].map((of) => `(${of} VALUE)`),
    '(pair key: VALUE)',
  ],
}

const patterns = [
  '[(function_definition) (class_definition)] @definition',
  '[(import_statement) (import_from_statement) (future_import_statement)] @import',
  '[(string) (comment)] @text',
  '(attribute object: (identifier) @root)',
  ...['keyword_argument', 'default_parameter', 'typed_default_parameter'].map(
    (of) => `(${of} name: (identifier) @used)`,
  ),
  ...Object.entries(valuesIn).flatMap(([how, places]) =>
    places.flatMap((place) => [
      place.replace('VALUE', `(identifier) @${how}`),
      place.replace('VALUE', `(attribute attribute: (identifier) @last) @${how}`),
    ]),
  ),
]

/** The patterns of a query of which `factNodesIn` sorts the matches. A search of a tree takes as long as all that is done with it. */
export const factQuery = patterns.join('\n')
export const factPatterns: number = patterns.length

const queries = new WeakMap<Language, Query>()

export function factNodesOf(tree: Tree): FactNodes {
  return factNodesIn(
    getOrMake(queries, tree.language, () => new Query(tree.language, factQuery)).matches(tree.rootNode),
  )
}

export function factNodesIn(matches: readonly QueryMatch[]): FactNodes {
  const found: FactNodes = { definitions: [], imports: [], texts: [], roots: [], values: [] }
  for (const { captures } of matches) {
    const [first, second] = captures
    if (first === undefined) continue
    const { name, node } = first
    if (name === 'root') found.roots.push(node)
    else if (name === 'text') found.texts.push(node)
    else if (name === 'definition') found.definitions.push(node)
    else if (name === 'import') found.imports.push(node)
    else if (isHow(name)) found.values.push({ how: name, node, last: second?.node })
  }
  return found
}

function isHow(name: string): name is Value['how'] {
  return Object.hasOwn(valuesIn, name)
}

const name = /[\w\u0080-\uffff]+/y

/** Returns the name that begins at an index. To ask the parser for its end takes longer. */
export function nameAt(source: string, index: number): string {
  name.lastIndex = index
  return name.exec(source)?.[0] ?? ''
}
