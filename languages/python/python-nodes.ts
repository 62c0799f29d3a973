import type { Node, Tree } from 'web-tree-sitter'

/** Returns the expression of a docstring. F-strings, t-strings, bytes and tuples are none to Python; parentheses may stand around it. */
export function docstringOf(statement: Node | null | undefined): Node | undefined {
  if (statement?.type !== 'expression_statement' || statement.childCount !== 1) return undefined
  const [expression] = statement.namedChildren
  const strings = expression === undefined ? [] : docstringParts(expression)
  return strings.length > 0 && strings.every(isPlainString) ? expression : undefined
}

/** Returns the strings that a docstring consists of, in order; none when the expression is something else. */
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

/** Returns the named children without comments and line continuations; none where there is no node. */
export function codeIn(node: Node | null | undefined): Node[] {
  return (node?.namedChildren ?? []).filter((child) => !isTrivia(child))
}

/** Returns the first of them, and asks the parser for no other. */
export function firstCodeIn(node: Node): Node | undefined {
  for (let at = 0; ; at++) {
    const child = node.namedChild(at)
    if (child === null || !isTrivia(child)) return child ?? undefined
  }
}

/** Returns the innermost node of one of the types that holds this one, or is it. */
export function nodeAround(node: Node | null, types: readonly string[]): Node | undefined {
  let around = node
  while (around !== null && !types.includes(around.type)) around = around.parent
  return around ?? undefined
}

export function isTrivia({ type }: Node): boolean {
  return type === 'comment' || type === 'line_continuation'
}

function isPlainString(node: Node): boolean {
  return node.type === 'string' && /^[rRuU]*["']/.test(node.text) && !hasInterpolation(node)
}

export function hasInterpolation(string: Node): boolean {
  return string.namedChildren.some((child) => child.type === 'interpolation')
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
      const untyped = inner && parameterIn(inner)
      return untyped && { ...untyped, type }
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
  const definitions = tree.rootNode.descendantsOfType(['function_definition', 'class_definition'])
  for (const body of [tree.rootNode, ...definitions.map((definition) => definition.childForFieldName('body'))]) {
    const docstring = docstringOf(codeIn(body)[0])
    if (docstring === undefined) continue
    for (let row = docstring.startPosition.row; row <= docstring.endPosition.row; row++) rows.add(row)
  }
  return rows
}

/** Returns the text in the quotes of a `string` node, escapes as written; undefined for others, bytes, or code inside. */
export function plainStringText(string: Node | null | undefined): string | undefined {
  if (string?.type !== 'string' || hasInterpolation(string)) return undefined
  const match = /^([a-zA-Z]*)("""|'''|"|')([^]*)\2$/.exec(string.text)
  return match === null || /b/i.test(match[1] ?? '') ? undefined : match[3]
}
