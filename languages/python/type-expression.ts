import type { Node } from 'web-tree-sitter'
import type { LoadedLanguage } from '../syntax/parser.ts'
import { codeIn, plainStringText } from './python-nodes.ts'

/** Holds a type as an annotation writes it. Dotted names stay as written: what they name depends on the file's imports. */
export type TypeExpression =
  | { kind: 'name'; name: string }
  | { kind: 'applied'; name: string; args: TypeExpression[] }
  | { kind: 'union'; options: TypeExpression[] }
  | { kind: 'value'; value: string | number | boolean | null }
  | { kind: 'other'; text: string }

export type PythonParser = Pick<LoadedLanguage, 'parse'>

const maxDepth = 30
const maxOtherText = 80

/** Reads the type that an expression names. Texts in quotes are parsed: they are forward references. */
export function typeExpressionOf(node: Node, python: PythonParser, depth = 0): TypeExpression {
  const inner = (part: Node) => typeExpressionOf(part, python, depth + 1)
  if (depth > maxDepth) return other(node)
  switch (node.type) {
    case 'type':
    case 'parenthesized_expression': {
      const [only] = codeIn(node)
      return only ? inner(only) : other(node)
    }
    case 'identifier':
    case 'attribute':
    case 'member_type':
      return { kind: 'name', name: node.text.replaceAll(/\s+/g, '') }
    case 'none':
      return { kind: 'name', name: 'None' }
    case 'ellipsis':
      return { kind: 'name', name: '...' }
    case 'union_type':
      return { kind: 'union', options: codeIn(node).map(inner) }
    case 'binary_operator':
      return node.childForFieldName('operator')?.text === '|'
        ? {
            kind: 'union',
            options: [node.childForFieldName('left'), node.childForFieldName('right')].flatMap((side) =>
              side ? inner(side) : [],
            ),
          }
        : other(node)
    case 'generic_type':
    case 'subscript':
      return appliedType(node, python, depth)
    case 'string':
      return quotedType(node, python, depth)
    default:
      return other(node)
  }
}

function other(node: Node): TypeExpression {
  return { kind: 'other', text: node.text.slice(0, maxOtherText) }
}

function appliedType(node: Node, python: PythonParser, depth: number): TypeExpression {
  const [head, ...rest] = codeIn(node)
  if (head === undefined) return other(node)
  const name = head.text.replaceAll(/\s+/g, '')
  const parts = rest.flatMap((part) => (part.type === 'type_parameter' || part.type === 'tuple' ? codeIn(part) : part))
  const isLiteral = /(?:^|\.)Literal$/.test(name)
  const args = parts.map((part) => (isLiteral ? literalOf(part) : typeExpressionOf(part, python, depth + 1)))
  return { kind: 'applied', name, args }
}

function literalOf(node: Node): TypeExpression {
  const bare = node.type === 'type' ? (codeIn(node)[0] ?? node) : node
  const value = scalarOf(bare)
  return value === undefined ? other(bare) : { kind: 'value', value }
}

/** Returns the value of a literal without code in it; undefined for anything else, also for a number that JSON would round. */
export function scalarOf(node: Node): string | number | boolean | null | undefined {
  switch (node.type) {
    case 'true':
      return true
    case 'false':
      return false
    case 'none':
      return null
    case 'string': {
      const text = plainStringText(node)
      return text === undefined || text.includes('\\') ? undefined : text
    }
    case 'integer':
    case 'float':
    case 'unary_operator': {
      const value = /^[-+]?[\d._]+(?:e[-+]?\d+)?$/i.test(node.text) ? Number(node.text.replaceAll('_', '')) : undefined
      return value !== undefined && Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER
        ? value
        : undefined
    }
    default:
      return undefined
  }
}

function quotedType(node: Node, python: PythonParser, depth: number): TypeExpression {
  const text = plainStringText(node)
  if (text === undefined || text.trim() === '') return other(node)
  const tree = python.parse(text.trim())
  try {
    const [statement, ...more] = codeIn(tree.rootNode)
    const [expression] = codeIn(statement)
    if (expression === undefined || more.length > 0 || tree.rootNode.hasError) return other(node)
    return typeExpressionOf(expression, python, depth + 1)
  } finally {
    tree.delete()
  }
}
