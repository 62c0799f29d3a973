import { isRecord } from '#domain/json.ts'

type Schema = Record<string, unknown>
type Named = { words: string; value: unknown }
type Case = { name: string; arguments: Record<string, unknown> }
export type Cases = { valid: Case[]; invalid: (Case & { why: string })[] }

const maxCases = 8
const maxDepth = 4
const maxMembers = 3

/** Makes cases of usual values, of each parameter's limits and of one wrong argument at a time, from the schema alone; `leftOut` are not in it. */
export function casesFor(schema: Schema, leftOut: readonly string[] = []): Cases {
  const parameters = propertiesOf(schema)
  const required = new Set(requiredOf(schema))
  const pick = (wanted: (name: string) => boolean) =>
    Object.fromEntries(
      parameters.filter(([name]) => wanted(name)).map(([name, own]) => [name, usual(own, { name, schema })]),
    )
  const [least, most] = [pick((name) => required.has(name)), pick(() => true)]
  const without = leftOut.length === 0 ? '' : ` but ${leftOut.join(', ')}`.slice(0, 60)
  const given = parameters.length === required.size ? [] : [{ name: `every argument${without}`, arguments: most }]
  const limits = interleaved(
    parameters.map(([name, own]) => {
      return limitsOf(own, schema).map(({ words, value }) => ({
        name: `${name} ${words}`,
        arguments: inOrder(least, name, value, parameters),
      }))
    }),
  )
  const first = { name: given.length === 0 ? 'usual values' : 'only what is required', arguments: least }
  return {
    valid: different([first, ...given, ...limits]).slice(0, maxCases),
    invalid: different(wrongCases(least, { parameters, required, schema })).slice(0, maxCases),
  }
}

type Around = { name: string; schema: Schema; depth?: number }

function usual(own: Schema, around: Around): unknown {
  const { name, schema, depth = 0 } = around
  const inner = { ...around, depth: depth + 1 }
  const { enum: members, anyOf, type, items, prefixItems, additionalProperties } = referred(own, schema)
  if (typeof own['default'] === 'string' && own['default'] !== '') return own['default']
  if (Array.isArray(members)) return members[0]
  if (Array.isArray(anyOf))
    return usual(anyOf.find((option) => isRecord(option) && option['type'] !== 'null') ?? {}, inner)
  switch (type) {
    case 'integer':
      return 3
    case 'number':
      return 1.5
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array': {
      if (Array.isArray(prefixItems)) return prefixItems.map((item) => usual(isRecord(item) ? item : {}, inner))
      return depth > maxDepth ? [] : [usual(isRecord(items) ? items : {}, { ...inner, name: singular(name) })]
    }
    case 'object': {
      if (isRecord(additionalProperties))
        return { [keyOf(referred(own, schema))]: usual(additionalProperties, { ...inner, name: singular(name) }) }
      const whole = referred(own, schema)
      const wanted = new Set(requiredOf(whole))
      const fields = propertiesOf(whole).filter(([field]) => wanted.has(field))
      return Object.fromEntries(fields.map(([field, member]) => [field, usual(member, { ...inner, name: field })]))
    }
    default:
      return usualText(referred(own, schema), name)
  }
}

const textsOfForms: readonly (readonly [RegExp, string])[] = [
  [/base64/, 'AAEC'],
  [/date and time/, '2024-02-29T12:30:00'],
  [/ISO 8601 date/, '2024-02-29'],
  [/ISO 8601 time/, '12:30:00'],
  [/decimal/, '12.50'],
  [/fraction/, '3/4'],
  [/uuid/, '3fa85f64-5717-4562-b3fc-2c963f66afa6'],
  [/ipv4/, '192.0.2.1'],
  [/ipv6/, '2001:db8::1'],
  [/path/, 'data/example.txt'],
  [/regular expression/, '[a-z]+'],
]
const textsOfNames: readonly (readonly [RegExp, string])[] = [
  [/path|file/, 'data/example.txt'],
  [/e?mail/, 'ada@example.com'],
  [/url|link|href/, 'https://example.com/'],
  [/currency/, 'EUR'],
  [/locale|lang/, 'en_GB'],
  [/encoding/, 'utf-8'],
  [/sku|code|key|id$/, 'A-1'],
  [/name|owner|user|author|actor/, 'Ada Lovelace'],
  [/price|amount|cost/, '12.50'],
  [/date|day$/, '2024-02-29'],
  [/sep|delim/, ','],
]

function usualText({ description, format }: Schema, name: string): string {
  const form = [description, format].filter((words) => typeof words === 'string').join(' ')
  const known = textsOfForms.find(([of]) => of.test(form)) ?? textsOfNames.find(([of]) => of.test(name.toLowerCase()))
  return known?.[1] ?? 'two words'
}

function keyOf({ propertyNames }: Schema): string {
  const pattern = isRecord(propertyNames) ? propertyNames['pattern'] : undefined
  if (typeof pattern !== 'string') return 'first'
  return pattern.includes('\\d{4}') ? '2024-02-29' : '3'
}

function singular(name: string): string {
  return name.replace(/s$/, '')
}

function limitsOf(own: Schema, schema: Schema): Named[] {
  const { enum: members, anyOf, type, format, pattern, prefixItems, additionalProperties } = referred(own, schema)
  if (Array.isArray(members))
    return members.slice(1, 1 + maxMembers).map((value) => ({ words: `is ${JSON.stringify(value)}`, value }))
  if (Array.isArray(anyOf)) return anyOf.flatMap((option) => (isRecord(option) ? limitsOf(option, schema) : []))
  switch (type) {
    case 'integer':
      return [
        { words: 'is zero', value: 0 },
        { words: 'is negative', value: -1 },
      ]
    case 'number':
      return [
        { words: 'is zero', value: 0 },
        { words: 'is negative', value: -0.5 },
      ]
    case 'boolean':
      return [{ words: 'is false', value: false }]
    case 'null':
      return [{ words: 'is null', value: null }]
    case 'array':
      return Array.isArray(prefixItems) ? [] : [{ words: 'is empty', value: [] }]
    case 'object':
      return isRecord(additionalProperties) ? [{ words: 'is empty', value: {} }] : []
    case 'string':
      if (format !== undefined || pattern !== undefined) return []
      return [
        { words: 'is empty', value: '' },
        { words: 'has letters beyond ASCII', value: 'Größe 10 µm' },
      ]
    default:
      return []
  }
}

type Wanted = { parameters: [string, Schema][]; required: ReadonlySet<string>; schema: Schema }

function wrongCases(least: Record<string, unknown>, { parameters, required, schema }: Wanted): Cases['invalid'] {
  const cases: Cases['invalid'] = []
  for (const [name, own] of parameters) {
    const wrong = wrongValue(own, schema)
    if (wrong === undefined) continue
    cases.push({
      name: `${name} ${wrong.words.startsWith('with') ? '' : 'is '}${wrong.words}`,
      why: `${name} must be ${kindOf(own, schema)}`,
      arguments: inOrder(least, name, wrong.value, parameters),
    })
  }
  const [left] = [...required]
  if (left !== undefined) {
    const { [left]: _, ...others } = least
    cases.splice(1, 0, { name: `without ${left}`, why: `${left} is required`, arguments: others })
  }
  const lacking = parameters.flatMap(([name, own]) => withoutField(name, own, { least, schema, parameters }))
  const unknown = {
    name: 'an argument too many',
    why: 'there is no parameter unexpected',
    arguments: { ...least, unexpected: 1 },
  }
  return [...cases.slice(0, maxCases - 2), ...lacking.slice(0, 1), unknown]
}

function withoutField(
  name: string,
  own: Schema,
  { least, schema, parameters }: { least: Record<string, unknown>; schema: Schema; parameters: [string, Schema][] },
) {
  const [field] = requiredOf(referred(own, schema))
  const value = usual(own, { name, schema })
  if (field === undefined || !isRecord(value)) return []
  const { [field]: _, ...others } = value
  return [
    {
      name: `${name} without ${field}`,
      why: `${name} must have ${field}`,
      arguments: inOrder(least, name, others, parameters),
    },
  ]
}

function wrongValue(own: Schema, schema: Schema): Named | undefined {
  const { enum: members, pattern, format, items } = referred(own, schema)
  if (Array.isArray(members)) return { words: 'no member', value: 'no such member' }
  if (pattern !== undefined || format !== undefined) return { words: 'of another form', value: 'not this' }
  const item = isRecord(items) ? wrongValue(items, schema) : undefined
  if (item !== undefined) return { words: `with an item that is ${item.words}`, value: [item.value] }
  const types = typesOf(own, schema)
  if (types.size === 0) return undefined
  const choices = [
    { type: 'string', words: 'a text', value: 'text' },
    { type: 'number', words: 'a number', value: 7 },
    { type: 'array', words: 'a list', value: [] },
    { type: 'object', words: 'an object', value: {} },
    { type: 'null', words: 'null', value: null },
  ]
  return choices.find(({ type }) => !types.has(type))
}

function typesOf(own: Schema, schema: Schema): Set<string> {
  const { type, anyOf, enum: members } = referred(own, schema)
  if (Array.isArray(anyOf)) {
    const all = anyOf.map((option) => typesOf(isRecord(option) ? option : {}, schema))
    return all.some((types) => types.size === 0) ? new Set() : new Set(all.flatMap((types) => [...types]))
  }
  if (Array.isArray(members)) return new Set(members.map((member) => typeof member))
  if (typeof type !== 'string') return new Set()
  return new Set([type === 'integer' ? 'number' : type])
}

function kindOf(own: Schema, schema: Schema): string {
  const { anyOf, enum: members, type, description, items } = referred(own, schema)
  const short = (names: string[], by: string) => names.join(by).slice(0, 120)
  if (Array.isArray(members))
    return `one of ${short(
      members.map((member) => JSON.stringify(member)),
      ', ',
    )}`
  if (Array.isArray(anyOf))
    return short(
      anyOf.map((option) => kindOf(isRecord(option) ? option : {}, schema)),
      ' or ',
    )
  if (typeof description === 'string') return description
  if (isRecord(items) && Object.keys(items).length > 0) return `a list, each item ${kindOf(items, schema)}`
  const words: Record<string, string> = {
    integer: 'a whole number',
    number: 'a number',
    string: 'a text',
    boolean: 'true or false',
    array: 'a list',
    object: 'an object',
    null: 'null',
  }
  return words[String(type)] ?? 'of its type'
}

function referred(own: Schema, schema: Schema): Schema {
  const name = typeof own['$ref'] === 'string' ? own['$ref'].replace('#/$defs/', '') : undefined
  const all = isRecord(schema['$defs']) ? schema['$defs'] : {}
  const target = name !== undefined && Object.hasOwn(all, name) ? all[name] : own
  return isRecord(target) ? target : {}
}

function propertiesOf({ properties }: Schema): [string, Schema][] {
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, own]) => [name, isRecord(own) ? own : {}])
}

function requiredOf({ required }: Schema): string[] {
  return Array.isArray(required) ? required.map(String) : []
}

function inOrder(
  least: Record<string, unknown>,
  name: string,
  value: unknown,
  parameters: readonly [string, Schema][],
): Record<string, unknown> {
  const all = { ...least, [name]: value }
  return Object.fromEntries(parameters.flatMap(([key]) => (Object.hasOwn(all, key) ? [[key, all[key]]] : [])))
}

function interleaved<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat()
}

function different<Item extends Case>(cases: readonly Item[]): Item[] {
  const texts = cases.map((sample) => JSON.stringify(sample.arguments))
  return cases.filter((_, at) => texts.indexOf(texts[at] ?? '') === at)
}
