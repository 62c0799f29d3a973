import { isRecord } from '#domain/json.ts'
import type { ToolDefinition } from '#domain/turn.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { mostDigits } from './bounded-tools.ts'
import { patternExpression } from './pattern-grammar.ts'

/**
 * JSON in the notation that xgrammar's EBNF (vLLM) and llama.cpp's GBNF share: `::=`, quoted text, character classes,
 * `* + ? {m,n}`, names of letters, digits and hyphens (https://xgrammar.mlc.ai/docs/defining_structures/ebnf_grammar.html, which
 * says that it is compatible with https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md). White space and
 * numbers are bounded, since a model that may write them for ever does.
 */
const jsonRules = String.raw`ws ::= [ \n]?
string ::= "\"" char* "\""
char ::= [^"\\\x00-\x1F] | "\\" ["\\/bfnrt] | "\\u" hex hex hex hex
hex ::= [0-9a-fA-F]
integer ::= "-"? ("0" | [1-9] [0-9]{0,${mostDigits - 1}})
number ::= integer ("." [0-9]{1,${mostDigits}})? ([eE] [-+]? [0-9]{1,3})?
boolean ::= "true" | "false"
value ::= object | array | string | number | boolean | "null"
object ::= "{" ws (string ws ":" ws value (ws "," ws string ws ":" ws value)*)? ws "}"
array ::= "[" ws (value (ws "," ws value)*)? ws "]"`

/**
 * A grammar of one call, `{"name": …, "arguments": …}`, of one of these tools. Of a schema it follows types, required keys,
 * enums, alternatives, lists, nested objects, patterns, the lengths of texts and lists, and the sign and the digits of whole
 * numbers, in the schema's order with the required keys first; anything else is any JSON value.
 */
export function callGrammar(tools: readonly ToolDefinition[]): string {
  return getOrMake(grammars, tools, () => makeGrammar(tools))
}

/** By the array of definitions, since a bundle sends the same with every request. */
const grammars = new WeakMap<readonly ToolDefinition[], string>()

/** A grammar of the first tool's arguments, without a call around them. Its rule is named after the tool: the rehearsal model reads there which tool is meant. */
export function argumentsGrammar(tools: readonly ToolDefinition[]): string {
  return getOrMake(argumentGrammars, tools, () => {
    const [tool] = tools
    const rules: string[] = []
    const root = ruleOf(`args-${tool?.name.replaceAll(/[^A-Za-z0-9]/g, '-')}`, tool?.parameters, rules)
    return [`root ::= ${root}`, ...rules, jsonRules].join('\n')
  })
}

const argumentGrammars = new WeakMap<readonly ToolDefinition[], string>()

function makeGrammar(tools: readonly ToolDefinition[]): string {
  const rules: string[] = []
  const calls = tools.map(({ name, parameters }, index) => {
    const args = ruleOf(`args${index}`, parameters, rules)
    rules.push(
      `call${index} ::= "{" ws ${quoted('name')} ws ":" ws ${quoted(name)} ws "," ws ${quoted('arguments')} ws ":" ws ${args} ws "}"`,
    )
    return `call${index}`
  })
  return [`root ::= ${calls.join(' | ')}`, ...rules, jsonRules].join('\n')
}

/**
 * Whether the grammar holds a call to all that a JSON Schema would, but for the limits of numbers. A schema lets white space run on between the signs, up to
 * twenty blanks with llama.cpp and without end with vLLM, so the grammar is the better one then.
 */
export function isHeldByGrammar(tools: readonly ToolDefinition[]): boolean {
  return tools.every(({ parameters }) => isFollowed(parameters))
}

/** Keywords that restrict a value, and that the grammar does not know. */
const unknownKeywords = ['format', '$ref', 'allOf', 'oneOf', 'patternProperties', 'propertyNames']

function isFollowed(schema: unknown): boolean {
  if (!isRecord(schema) || unknownKeywords.some((keyword) => schema[keyword] !== undefined)) return false
  const { type, enum: values, const: only, anyOf, properties, items, pattern } = schema
  if (only !== undefined || Array.isArray(values)) return true
  if (pattern !== undefined) return type === 'string' && patternOf(schema) !== undefined
  if (Array.isArray(anyOf)) return anyOf.every(isFollowed)
  if (type === 'array') return isFollowed(items)
  if (isEmpty(properties)) return schema['additionalProperties'] === false
  if (type === 'object') return isRecord(properties) && Object.values(properties).every(isFollowed)
  return typeof type === 'string'
}

/** The expression for a value of this schema; the rule of an object is added as `name`. */
function ruleOf(name: string, schema: unknown, rules: string[]): string {
  const {
    type,
    enum: values,
    const: only,
    properties,
    required,
    items,
    anyOf,
    ...most
  } = isRecord(schema) ? schema : {}
  if (only !== undefined) return quoted(only)
  if (Array.isArray(values) && values.length > 0) return `(${values.map(quoted).join(' | ')})`
  if (Array.isArray(anyOf)) return `(${anyOf.map((form, at) => ruleOf(`${name}-or${at}`, form, rules)).join(' | ')})`
  switch (type) {
    case 'string':
      return patternOf(most) ?? textOf(most)
    case 'integer':
      return integerOf(most)
    case 'number':
    case 'boolean':
      return type
    case 'null':
      return '"null"'
    case 'array':
      return listOf(items === undefined ? 'value' : ruleOf(`${name}-item`, items, rules), most)
    case 'object':
      if (isEmpty(properties) && most['additionalProperties'] === false) return `"{" ws "}"`
      if (!isRecord(properties) || isEmpty(properties)) return 'object'
      rules.push(`${name} ::= ${objectOf(name, properties, required, rules)}`)
      return name
    default:
      return 'value'
  }
}

function isEmpty(properties: unknown): boolean {
  return isRecord(properties) && Object.keys(properties).length === 0
}

/** Limits that are no power of ten cannot be said in a grammar; the call is checked when it arrives. */
function integerOf({ minimum, maximum }: Record<string, unknown>): string {
  if (typeof minimum !== 'number' || minimum < 0) return 'integer'
  const digits = typeof maximum === 'number' && maximum >= 0 ? String(Math.floor(maximum)).length : mostDigits
  return `("0" | [1-9] [0-9]{0,${Math.min(digits, mostDigits) - 1}})`
}

/** Undefined without a pattern, for one that a grammar cannot say, and where the text has lengths as well. */
function patternOf({ pattern, minLength, maxLength }: Record<string, unknown>): string | undefined {
  if (typeof pattern !== 'string' || minLength !== undefined || maxLength !== undefined) return undefined
  const inside = patternExpression(pattern)
  return inside === undefined ? undefined : String.raw`"\"" ${inside} "\""`
}

function textOf({ minLength = 0, maxLength }: Record<string, unknown>): string {
  const most = typeof maxLength === 'number' ? maxLength : ''
  return minLength === 0 && most === '' ? 'string' : String.raw`"\"" char{${Number(minLength)},${most}} "\""`
}

function listOf(item: string, { minItems, maxItems }: Record<string, unknown>): string {
  if (maxItems === 0) return `"[" ws "]"`
  const least = typeof minItems === 'number' ? minItems : 0
  const fewest = Math.max(0, least - 1)
  const times = typeof maxItems === 'number' ? `{${fewest},${maxItems - 1}}` : fewest === 0 ? '*' : `{${fewest},}`
  return `"[" ws (${item} (ws "," ws ${item})${times})${least === 0 ? '?' : ''} ws "]"`
}

function objectOf(name: string, properties: Record<string, unknown>, given: unknown, rules: string[]): string {
  const required = new Set<unknown>(Array.isArray(given) ? given : [])
  const pairs = Object.entries(properties).map(([key, value], index) => ({
    isRequired: required.has(key),
    text: `${quoted(key)} ws ":" ws ${ruleOf(`${name}-${index}`, value, rules)}`,
  }))
  const must = pairs.filter(({ isRequired }) => isRequired).map(({ text }) => text)
  const may = pairs.filter(({ isRequired }) => !isRequired).map(({ text }) => text)
  const later = (texts: string[]) => texts.map((text) => ` (ws "," ws ${text})?`).join('')
  const inside =
    must.length > 0
      ? `${must.join(' ws "," ws ')}${later(may)}`
      : `(${may.map((text, index) => `${text}${later(may.slice(index + 1))}`).join(' | ')})?`
  return `"{" ws ${inside} ws "}"`
}

/** A JSON value as the literal of a grammar: its own quotes and backslashes escaped once more. */
function quoted(value: unknown): string {
  return JSON.stringify(JSON.stringify(value))
}
