import type { Node, Tree } from 'web-tree-sitter'

/** Returns the expression of a docstring. F-strings, t-strings, bytes and tuples are none to Python; parentheses may stand around it. */
export function docstringOf(statement: Node | null | undefined): Node | undefined {
  if (statement?.type !== 'expression_statement' || statement.childCount !== 1) return undefined
  const expression = statement.namedChildren[0] ?? undefined
  const strings = expression === undefined ? [] : docstringParts(expression)
  return strings.length > 0 && strings.every(isPlainString) ? expression : undefined
}

/** The strings that a docstring consists of, in order; empty when the expression is something else. */
export function docstringParts(expression: Node): Node[] {
  let inner = expression
  while (inner.type === 'parenthesized_expression') {
    const [only] = codeIn(inner)
    if (only === undefined) return []
    inner = only
  }
  if (inner.type === 'string') return [inner]
  return inner.type === 'concatenated_string' ? codeIn(inner) : []
}

/** The named children without comments and line continuations. */
export function codeIn(node: Node): Node[] {
  return node.namedChildren.filter((child) => child !== null).filter((child) => !isTrivia(child))
}

export function isTrivia(node: Node): boolean {
  return node.type === 'comment' || node.type === 'line_continuation'
}

function isPlainString(node: Node): boolean {
  const hasCode = node.namedChildren.some((child) => child?.type === 'interpolation')
  return node.type === 'string' && /^[rRuU]*["']/.test(node.text) && !hasCode
}

type Parameter = { name: string; type: Node | null; value: Node | null; rest?: 'positional' | 'keyword' }

/** Reads a node in the parameters of a function; undefined for one that is no parameter, such as `/`. `rest` stands for stars. */
export function parameterIn(node: Node): Parameter | undefined {
  const [type, value] = [node.childForFieldName('type'), node.childForFieldName('value')]
  switch (node.type) {
    case 'identifier':
      return { name: node.text, type, value }
    case 'default_parameter':
    case 'typed_default_parameter':
      return { name: node.childForFieldName('name')?.text ?? '', type, value }
    case 'typed_parameter': {
      const [inner] = codeIn(node)
      const bare = inner && parameterIn(inner)
      return bare && { ...bare, type }
    }
    case 'list_splat_pattern':
      return { name: node.text.slice(1), type, value, rest: 'positional' }
    case 'dictionary_splat_pattern':
      return { name: node.text.slice(2), type, value, rest: 'keyword' }
    default:
      return undefined
  }
}

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

/** The text in the quotes of a `string` node, escapes as written; undefined for others, bytes, or code inside. */
export function plainStringText(string: Node | null | undefined): string | undefined {
  if (string?.type !== 'string') return undefined
  if (string.namedChildren.some((child) => child?.type === 'interpolation')) return undefined
  const match = /^([a-zA-Z]*)("""|'''|"|')([^]*)\2$/.exec(string.text)
  return match === null || /b/i.test(match[1] ?? '') ? undefined : match[3]
}
