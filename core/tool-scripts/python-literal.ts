import { partsOf, type SyntaxNode } from './syntax-node.ts'

export type PythonLiteral = { value: unknown }

const maxDepth = 32
const constants: Readonly<Record<string, unknown>> = { none: null, true: true, false: false }
const simpleEscapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\n': '',
}

/** The JSON value of a literal: None, bool, number, string, list or str-keyed dict of these. Undefined for the rest. */
export function pythonLiteral(node: SyntaxNode, depth = 0): PythonLiteral | undefined {
  if (depth > maxDepth) return undefined
  if (Object.hasOwn(constants, node.type)) return { value: constants[node.type] }
  switch (node.type) {
    case 'integer':
    case 'float':
      return numberLiteral(node.text)
    case 'unary_operator':
      return negative(node)
    case 'string':
      return stringLiteral(node)
    case 'list':
      return listLiteral(node, depth)
    case 'dictionary':
      return dictionaryLiteral(node, depth)
    default:
      return undefined
  }
}

function numberLiteral(text: string): PythonLiteral | undefined {
  const value = Number(text.replaceAll('_', ''))
  return Number.isFinite(value) ? { value } : undefined
}

function negative(node: SyntaxNode): PythonLiteral | undefined {
  const argument = node.childForFieldName('argument')
  if (!node.text.startsWith('-') || (argument?.type !== 'integer' && argument?.type !== 'float')) return undefined
  const positive = numberLiteral(argument.text)
  return typeof positive?.value === 'number' ? { value: -positive.value } : undefined
}

function stringLiteral(node: SyntaxNode): PythonLiteral | undefined {
  const parts = partsOf(node)
  const prefix = (parts[0]?.text ?? '').toLowerCase()
  if (prefix.startsWith('b') || prefix.includes('f') || prefix.includes('t')) return undefined
  const contents = parts.filter((part) => part.type === 'string_content')
  if (prefix.startsWith('r')) return { value: contents.map((part) => part.text).join('') }
  return { value: contents.map(unescaped).join('') }
}

function unescaped(content: SyntaxNode): string {
  const start = content.startIndex
  let from = 0
  let text = ''
  for (const part of partsOf(content)) {
    if (part.type !== 'escape_sequence') continue
    text += content.text.slice(from, part.startIndex - start) + escapeValue(part.text.slice(1))
    from = part.endIndex - start
  }
  return text + content.text.slice(from)
}

function escapeValue(escape: string): string {
  const kind = escape[0] ?? ''
  if (Object.hasOwn(simpleEscapes, kind)) return simpleEscapes[kind] ?? ''
  if (kind === 'x' || kind === 'u' || kind === 'U') {
    const point = Number.parseInt(escape.slice(1), 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : ''
  }
  if (kind >= '0' && kind <= '7') return String.fromCodePoint(Number.parseInt(escape, 8))
  return escape
}

function listLiteral(node: SyntaxNode, depth: number): PythonLiteral | undefined {
  const items = partsOf(node).map((item) => pythonLiteral(item, depth + 1))
  const values = items.filter((item) => item !== undefined).map((item) => item.value)
  return values.length === items.length ? { value: values } : undefined
}

function dictionaryLiteral(node: SyntaxNode, depth: number): PythonLiteral | undefined {
  const entries: [string, unknown][] = []
  for (const pair of partsOf(node)) {
    const key = pair.childForFieldName('key')
    const value = pair.childForFieldName('value')
    if (pair.type !== 'pair' || key?.type !== 'string' || value === null) return undefined
    const name = pythonLiteral(key, depth + 1)
    const content = pythonLiteral(value, depth + 1)
    if (typeof name?.value !== 'string' || content === undefined) return undefined
    entries.push([name.value, content.value])
  }
  return { value: Object.fromEntries(entries) }
}
