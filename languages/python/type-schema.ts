import { lastPart } from './imported-names.ts'
import {
  allowsNull,
  formOf,
  iterableNote,
  type JsonSchema,
  recordBases,
  recordDecorators,
  enumBases,
  scalarSchema,
  type TypeForm,
} from './known-types.ts'
import type { TypedDefinition, TypedName } from './module-types.ts'
import { resolveType, type ResolvedType, type TypeScope } from './resolve-type.ts'
import type { TypeExpression } from './type-expression.ts'

/** Says what the values of a type are in JSON. `opaque`: they cannot be written as data, as those of an ordinary class. */
export type TypeSchema = { kind: 'schema'; schema: JsonSchema } | { kind: 'opaque'; type: string }

/** Holds the records that schemas refer to by `#/$defs/NAME`, and counts the types that were looked at for a signature. */
export type Definitions = { made: Map<string, JsonSchema>; names: Map<string, string>; visits: number }

type Lookup = { scope: TypeScope; definitions: Definitions; depth?: number }

/** Types beyond these limits count as opaque: aliases can double from one to the next. */
const maxDepth = 40
const maxVisits = 5_000
const maxDefinitions = 60

const fits = (schema: JsonSchema): TypeSchema => ({ kind: 'schema', schema })
const opaque = (type: string): TypeSchema => ({ kind: 'opaque', type })
const tooMany = opaque('a type of too many parts')
const anything: TypeSchema = fits({})

export const newDefinitions = (): Definitions => ({ made: new Map(), names: new Map(), visits: 0 })

/** Counts what is looked at next. Once it is true, what was made is not complete. */
export function isOverLimit(definitions: Definitions, visits = 1): boolean {
  definitions.visits += visits
  return definitions.visits > maxVisits
}

function schemaOfType(type: TypeExpression, lookup: Lookup): TypeSchema {
  const { depth = 0 } = lookup
  const here = { ...lookup, depth: depth + 1 }
  if (depth > maxDepth) return opaque('a type nested too deeply')
  if (isOverLimit(lookup.definitions)) return tooMany
  switch (type.kind) {
    case 'value':
      return fits({ enum: [type.value] })
    case 'union':
      return unionOf(type.options, here)
    case 'other':
      return opaque(type.text)
    case 'name':
      return namedType(type.name, [], here)
    case 'applied':
      return namedType(type.name, type.args, here)
  }
}

function namedType(name: string, args: readonly TypeExpression[], lookup: Lookup): TypeSchema {
  const resolved = resolveType(name, lookup.scope)
  switch (resolved.kind) {
    case 'unknown':
      return opaque(name)
    case 'definition':
      return definedType(resolved, lookup)
    case 'known': {
      const scalar = scalarSchema(resolved.name)
      const form = formOf(resolved.name)
      if (scalar !== undefined) return fits(scalar)
      return form === undefined ? opaque(name) : formedType(form, args, lookup)
    }
  }
}

function formedType(form: TypeForm, args: readonly TypeExpression[], lookup: Lookup): TypeSchema {
  const [first, second] = args
  const inner = (type: TypeExpression | undefined) => (type === undefined ? anything : schemaOfType(type, lookup))
  switch (form) {
    case 'any':
      return anything
    case 'wrapper':
      return inner(first)
    case 'union':
      return unionOf(args, lookup)
    case 'optional':
      return unionOf([...args, { kind: 'name', name: 'None' }], lookup)
    case 'literal':
      if (isOverLimit(lookup.definitions, args.length)) return tooMany
      return fits({ enum: args.flatMap((arg) => (arg.kind === 'value' ? [arg.value] : [])) })
    case 'list':
      return around(inner(first), (items) => ({ type: 'array', items }))
    case 'iterable':
      return around(inner(first), (items) => ({ type: 'array', items, description: iterableNote }))
    case 'set':
      return around(inner(first), (items) => ({ type: 'array', items, uniqueItems: true }))
    case 'tuple':
      return tupleOf(args, lookup)
    case 'counter':
      return fits({ type: 'object', additionalProperties: { type: 'integer' } })
    case 'dict':
      return dictOf(inner(first), inner(second))
  }
}

function around(inner: TypeSchema, make: (schema: JsonSchema) => JsonSchema): TypeSchema {
  return inner.kind === 'opaque' ? inner : fits(make(inner.schema))
}

/** Options whose values cannot be written are left out: the others can. */
function unionOf(options: readonly TypeExpression[], lookup: Lookup): TypeSchema {
  const all = options.map((option) => schemaOfType(option, lookup))
  const schemas = alternatives(all.flatMap((option) => (option.kind === 'schema' ? [option.schema] : [])))
  const data = schemas.filter(({ type }) => type !== 'null')
  const [only] = schemas
  const hidden = all.find((option) => option.kind === 'opaque')
  // `Catalog | None`: that None is data does not make the parameter one that can be written.
  if (only === undefined || (data.length === 0 && hidden !== undefined)) return hidden ?? anything
  if (schemas.some((schema) => Object.keys(schema).length === 0)) return anything
  return fits(schemas.length === 1 ? only : { anyOf: schemas })
}

/** Leaves out those that another includes, as far as that shows: a path is a text, and a whole number is a number. */
function alternatives(schemas: readonly JsonSchema[]): JsonSchema[] {
  const options = schemas.flatMap((schema) => schema.anyOf ?? [schema])
  const byText = new Map(options.map((schema) => [JSON.stringify(schema), schema]))
  const has = (name: string) => byText.has(JSON.stringify({ type: name }))
  const isIncluded = ({ type, ...more }: JsonSchema) =>
    (type === 'integer' && has('number')) || (type === 'string' && Object.keys(more).length > 0 && has('string'))
  return [...byText.values()].filter((schema) => !isIncluded(schema))
}

function tupleOf(args: readonly TypeExpression[], lookup: Lookup): TypeSchema {
  const [first, second] = args
  if (first === undefined) return fits({ type: 'array' })
  if (second?.kind === 'name' && second.name === '...')
    return around(schemaOfType(first, lookup), (items) => ({ type: 'array', items }))
  const items = args.map((arg) => schemaOfType(arg, lookup))
  const hidden = items.find((item) => item.kind === 'opaque')
  if (hidden !== undefined) return hidden
  const prefixItems = items.flatMap((item) => (item.kind === 'schema' ? [item.schema] : []))
  return fits({ type: 'array', prefixItems, items: false, minItems: args.length, maxItems: args.length })
}

/** Says by a pattern what numbers are as keys, since the keys of a JSON object are texts. */
function dictOf(keys: TypeSchema, values: TypeSchema): TypeSchema {
  if (keys.kind === 'opaque') return keys
  const { type, pattern, enum: allowed } = keys.schema
  const isNumber = type === 'integer' || type === 'number'
  const names = isNumber
    ? { pattern: type === 'integer' ? '^-?\\d+$' : '^-?\\d+(?:\\.\\d+)?$' }
    : pattern === undefined
      ? undefined
      : { pattern }
  const isText = type === undefined || type === 'string' || isNumber
  if (!isText || Array.isArray(allowed)) return opaque('a dict whose keys are no texts')
  return around(values, (additionalProperties) => ({
    type: 'object',
    additionalProperties,
    ...(names && { propertyNames: names }),
  }))
}

type Defined = Extract<ResolvedType, { kind: 'definition' }>
type ClassDefinition = Extract<TypedDefinition, { kind: 'class' }>

function definedType({ definition, name, scope }: Defined, lookup: Lookup): TypeSchema {
  const there = { ...lookup, scope }
  if (definition.kind === 'alias') return schemaOfType(definition.type, there)
  if (definition.kind === 'function') return opaque(name)
  const members = enumSchema(definition, there)
  if (members !== undefined) return members
  const fields = recordFields(definition, there)
  if (fields === undefined) return scalarBase(definition, there) ?? opaque(name)
  return recordReference({ name, path: scope.path }, fields, there)
}

/** Reads `class Sku(str)` as a text. */
function scalarBase({ bases }: ClassDefinition, lookup: Lookup): TypeSchema | undefined {
  for (const base of bases) {
    const resolved = resolveType(base, lookup.scope)
    const scalar = resolved.kind === 'known' ? scalarSchema(resolved.name) : undefined
    if (scalar !== undefined) return fits(scalar)
  }
  return undefined
}

/** Writes a member as its value, which the enumeration itself takes, too. */
function enumSchema({ bases, members }: ClassDefinition, { scope, definitions }: Lookup): TypeSchema | undefined {
  if (!bases.some((base) => enumBases.has(lastPart(base)) && resolveType(base, scope).kind !== 'definition'))
    return undefined
  if (members.length === 0) return opaque('an enumeration without members')
  if (isOverLimit(definitions, members.length)) return tooMany
  if (members.some(([, value]) => value === undefined)) return opaque('an enumeration whose values are computed')
  return fits({ enum: members.map(([, value]) => value) })
}

/** Lists the fields of a dataclass, TypedDict, NamedTuple or model, those of its bases first; undefined for any other class. */
export function recordFields(
  { bases, decorators, fields, isPartial }: ClassDefinition,
  { scope, definitions, depth = 0 }: Lookup,
): { field: TypedName; scope: TypeScope }[] | undefined {
  if (depth > maxDepth || isOverLimit(definitions)) return undefined
  const inherited = bases.map((base) => {
    const resolved = resolveType(base, scope)
    if (resolved.kind !== 'definition') return recordBases.has(lastPart(base)) ? [] : undefined
    const { definition, scope: there } = resolved
    return definition.kind === 'class'
      ? recordFields(definition, { scope: there, definitions, depth: depth + 1 })
      : undefined
  })
  const isRecord =
    decorators.some((name) => recordDecorators.has(lastPart(name))) || inherited.some((base) => base !== undefined)
  if (!isRecord) return undefined
  const all = new Map(inherited.flatMap((base) => base ?? []).map((entry) => [entry.field.name, entry]))
  for (const field of fields) {
    const isOptional = field.type !== undefined && isMarked(field.type, isPartial)
    all.set(field.name, { field: isOptional ? { ...field, isRequired: false } : field, scope })
  }
  return [...all.values()]
}

function isMarked(type: TypeExpression, isPartial: boolean): boolean {
  const name = type.kind === 'applied' ? lastPart(type.name) : ''
  return name === 'NotRequired' || (isPartial && name !== 'Required')
}

function recordReference(
  { name, path }: { name: string; path: string },
  fields: readonly { field: TypedName; scope: TypeScope }[],
  lookup: Lookup,
): TypeSchema {
  const { definitions } = lookup
  const key = `${path}:${name}`
  const known = definitions.names.get(key)
  if (known !== undefined) return fits({ $ref: `#/$defs/${known}` })
  if (definitions.names.size >= maxDefinitions) return opaque(name)
  const plain = lastPart(name)
  const isTaken = [...definitions.names.values()].includes(plain)
  const id = isTaken ? `${plain}${definitions.names.size}` : plain
  definitions.names.set(key, id)
  const object = objectSchema(fields.map(({ field, scope }) => ({ field, lookup: { ...lookup, scope } })))
  if (object.hidden !== undefined) {
    definitions.names.delete(key)
    return opaque(object.hidden)
  }
  definitions.made.set(id, object.schema)
  return fits({ $ref: `#/$defs/${id}` })
}

export type ObjectSchema = {
  schema: JsonSchema
  /** Names the first required one that cannot be written as data, with its type. */
  hidden: string | undefined
  /** Lists optional ones that cannot, and those that allow every value. */
  leftOut: string[]
  unconstrained: string[]
}

export function objectSchema(names: readonly { field: TypedName; lookup: Lookup }[]): ObjectSchema {
  const properties: [string, JsonSchema][] = []
  const required: string[] = []
  const object: Omit<ObjectSchema, 'schema'> = { hidden: undefined, leftOut: [], unconstrained: [] }
  for (const { field, lookup } of names) {
    const own = fieldSchema(field, lookup)
    if (own.kind === 'opaque') {
      if (field.isRequired) object.hidden ??= `${field.name}: ${own.type}`
      else object.leftOut.push(field.name)
      continue
    }
    properties.push([field.name, own.schema])
    if (field.isRequired) required.push(field.name)
    if (Object.keys(own.schema).length === 0) object.unconstrained.push(field.name)
  }
  const schema = { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false }
  return { schema, ...object }
}

function fieldSchema({ type, default: value, rest }: TypedName, lookup: Lookup): TypeSchema {
  const own = type === undefined ? anything : schemaOfType(type, lookup)
  if (own.kind === 'opaque') return own
  const { schema } = own
  if (rest === 'list') return fits({ type: 'array', items: schema })
  if (rest === 'dict') return fits({ type: 'object', additionalProperties: schema })
  if (value === undefined || Object.keys(schema).length === 0) return own
  const allowed = value !== null || allowsNull(schema) ? schema : { anyOf: [schema, { type: 'null' }] }
  return fits({ ...allowed, default: value })
}
