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

/** Returns JSON of None, a bool, number, string, list or str-keyed dict. Undefined for other code and inexact integers. */
export function pythonLiteral(node: SyntaxNode, depth = 0): PythonLiteral | undefined {
  if (depth > maxDepth) return undefined
  if (Object.hasOwn(constants, node.type)) return { value: constants[node.type] }
  switch (node.type) {
    case 'integer':
    case 'float':
      return numberLiteral(node.text)
    case 'unary_operator':
      return signed(node)
    case 'string':
      return stringLiteral(node)
    case 'concatenated_string':
      return joined(partsOf(node).map(stringLiteral))
    case 'parenthesized_expression': {
      const [inner, more] = partsOf(node)
      return inner === undefined || more !== undefined ? undefined : pythonLiteral(inner, depth + 1)
    }
    case 'list':
      return valuesOf(partsOf(node).map((item) => pythonLiteral(item, depth + 1)))
    case 'dictionary':
      return dictionaryLiteral(node, depth)
    default:
      return undefined
  }
}

function numberLiteral(text: string): PythonLiteral | undefined {
  const digits = text.replaceAll('_', '')
  const value = Number(digits)
  const isInteger = /^0[xob]/i.test(digits) || !/[.e]/i.test(digits)
  const isOctalOfPython2 = /^0+[1-9]\d*$/.test(digits)
  const isExact = isInteger ? Number.isSafeInteger(value) && !isOctalOfPython2 : Number.isFinite(value)
  return isExact ? { value } : undefined
}

function signed(node: SyntaxNode): PythonLiteral | undefined {
  const argument = node.childForFieldName('argument')
  const sign = node.childForFieldName('operator')?.type
  if ((sign !== '-' && sign !== '+') || (argument?.type !== 'integer' && argument?.type !== 'float')) return undefined
  const unsigned = numberLiteral(argument.text)
  return typeof unsigned?.value === 'number' && sign === '-' ? { value: -unsigned.value } : unsigned
}

function joined(strings: readonly (PythonLiteral | undefined)[]): PythonLiteral | undefined {
  const values = valuesOf(strings)?.value
  return values && { value: values.join('') }
}

function valuesOf(literals: readonly (PythonLiteral | undefined)[]): { value: unknown[] } | undefined {
  const known = literals.filter((literal) => literal !== undefined)
  return known.length === literals.length ? { value: known.map(({ value }) => value) } : undefined
}

function stringLiteral(node: SyntaxNode): PythonLiteral | undefined {
  const parts = partsOf(node)
  const prefix = (parts[0]?.text ?? '').toLowerCase()
  if (prefix.startsWith('b') || prefix.includes('f') || prefix.includes('t')) return undefined
  const contents = parts.filter((part) => part.type === 'string_content')
  if (prefix.startsWith('r')) return { value: contents.map((part) => part.text).join('') }
  return joined(contents.map(unescaped))
}

function unescaped(content: SyntaxNode): PythonLiteral | undefined {
  const start = content.startIndex
  let from = 0
  let text = ''
  for (const part of partsOf(content)) {
    if (part.type !== 'escape_sequence') continue
    const value = escapeValue(part.text.slice(1))
    if (value === undefined) return undefined
    text += content.text.slice(from, part.startIndex - start) + value
    from = part.endIndex - start
  }
  return { value: text + content.text.slice(from) }
}

/** Returns undefined for `\N{…}`, whose names are not known here, and for an invalid code point. */
function escapeValue(escape: string): string | undefined {
  const kind = escape[0] ?? ''
  if (kind === 'N') return undefined
  if (Object.hasOwn(simpleEscapes, kind)) return simpleEscapes[kind]
  if (kind === 'x' || kind === 'u' || kind === 'U') {
    const point = Number.parseInt(escape.slice(1), 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : undefined
  }
  if (kind >= '0' && kind <= '7') return String.fromCodePoint(Number.parseInt(escape, 8))
  return escape
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
