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

/** The records that schemas refer to by `#/$defs/NAME`, and how many types have been looked at for a signature. */
export type Definitions = { made: Map<string, JsonSchema>; names: Map<string, string>; visits: number }

type Place = { scope: TypeScope; definitions: Definitions; depth: number }

/** Types nested deeper, or records beyond these, count as opaque. Types beyond these too: aliases can double from one to the next. */
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

function schemaOfType(type: TypeExpression, place: Omit<Place, 'depth'> & { depth?: number }): TypeSchema {
  const { depth = 0 } = place
  const here = { ...place, depth: depth + 1 }
  if (depth > maxDepth) return opaque('a type nested too deeply')
  if (isOverLimit(place.definitions)) return tooMany
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

function namedType(name: string, args: readonly TypeExpression[], place: Place): TypeSchema {
  const resolved = resolveType(name, place.scope)
  switch (resolved.kind) {
    case 'unknown':
      return opaque(name)
    case 'definition':
      return definedType(resolved, place)
    case 'known': {
      const scalar = scalarSchema(resolved.name)
      const form = formOf(resolved.name)
      if (scalar !== undefined) return fits(scalar)
      return form === undefined ? opaque(name) : formedType(form, args, place)
    }
  }
}

function formedType(form: TypeForm, args: readonly TypeExpression[], place: Place): TypeSchema {
  const [first, second] = args
  const inner = (type: TypeExpression | undefined) => (type === undefined ? anything : schemaOfType(type, place))
  switch (form) {
    case 'any':
      return anything
    case 'wrapper':
      return inner(first)
    case 'union':
      return unionOf(args, place)
    case 'optional':
      return unionOf([...args, { kind: 'name', name: 'None' }], place)
    case 'literal':
      if (isOverLimit(place.definitions, args.length)) return tooMany
      return fits({ enum: args.flatMap((one) => (one.kind === 'value' ? [one.value] : [])) })
    case 'list':
      return around(inner(first), (items) => ({ type: 'array', items }))
    case 'iterable':
      return around(inner(first), (items) => ({ type: 'array', items, description: iterableNote }))
    case 'set':
      return around(inner(first), (items) => ({ type: 'array', items, uniqueItems: true }))
    case 'tuple':
      return tupleOf(args, place)
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
function unionOf(options: readonly TypeExpression[], place: Place): TypeSchema {
  const all = options.map((option) => schemaOfType(option, place))
  const schemas = alternatives(all.flatMap((one) => (one.kind === 'schema' ? [one.schema] : [])))
  const data = schemas.filter(({ type }) => type !== 'null')
  const [only] = schemas
  const hidden = all.find((one) => one.kind === 'opaque')
  // `Catalog | None`: that None is data does not make the parameter one that can be written.
  if (only === undefined || (data.length === 0 && hidden !== undefined)) return hidden ?? anything
  if (schemas.some((schema) => Object.keys(schema).length === 0)) return anything
  return fits(schemas.length === 1 ? only : { anyOf: schemas })
}

/** Leaves out those that another one includes, as far as that shows: a path is a text, and a whole number is a number. */
function alternatives(schemas: readonly JsonSchema[]): JsonSchema[] {
  const byText = new Map(schemas.flatMap((one) => one.anyOf ?? [one]).map((one) => [JSON.stringify(one), one]))
  const has = (name: string) => byText.has(JSON.stringify({ type: name }))
  const isIncluded = ({ type, ...more }: JsonSchema) =>
    (type === 'integer' && has('number')) || (type === 'string' && Object.keys(more).length > 0 && has('string'))
  return [...byText.values()].filter((one) => !isIncluded(one))
}

function tupleOf(args: readonly TypeExpression[], place: Place): TypeSchema {
  const [first, second] = args
  if (first === undefined) return fits({ type: 'array' })
  if (second?.kind === 'name' && second.name === '...')
    return around(schemaOfType(first, place), (items) => ({ type: 'array', items }))
  const items = args.map((one) => schemaOfType(one, place))
  const hidden = items.find((one) => one.kind === 'opaque')
  if (hidden !== undefined) return hidden
  const prefixItems = items.flatMap((one) => (one.kind === 'schema' ? [one.schema] : []))
  return fits({ type: 'array', prefixItems, items: false, minItems: args.length, maxItems: args.length })
}

/** The keys of a JSON object are texts: what numbers are as keys is said by a pattern. */
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

function definedType({ definition, name, scope }: Defined, place: Place): TypeSchema {
  const there = { ...place, scope }
  if (definition.kind === 'alias') return schemaOfType(definition.type, there)
  if (definition.kind === 'function') return opaque(name)
  const members = enumSchema(definition, there)
  if (members !== undefined) return members
  const fields = recordFields(definition, there)
  if (fields === undefined) return scalarBase(definition, there) ?? opaque(name)
  return recordReference({ name, path: scope.path }, fields, there)
}

/** `class Sku(str)` is written as a text. */
function scalarBase({ bases }: Extract<TypedDefinition, { kind: 'class' }>, place: Place): TypeSchema | undefined {
  for (const base of bases) {
    const resolved = resolveType(base, place.scope)
    const scalar = resolved.kind === 'known' ? scalarSchema(resolved.name) : undefined
    if (scalar !== undefined) return fits(scalar)
  }
  return undefined
}

type ClassDefinition = Extract<TypedDefinition, { kind: 'class' }>

/** A member is written as its value, which the enumeration itself takes, too. */
function enumSchema({ bases, members }: ClassDefinition, { scope, definitions }: Place): TypeSchema | undefined {
  if (!bases.some((base) => enumBases.has(lastPart(base)) && resolveType(base, scope).kind !== 'definition'))
    return undefined
  if (members.length === 0) return opaque('an enumeration without members')
  if (isOverLimit(definitions, members.length)) return tooMany
  if (members.some(([, value]) => value === undefined)) return opaque('an enumeration whose values are computed')
  return fits({ enum: members.map(([, value]) => value) })
}

/** The fields of a dataclass, TypedDict, NamedTuple or model, those of its bases first; undefined for any other class. */
export function recordFields(
  { bases, decorators, fields, isPartial }: ClassDefinition,
  { scope, definitions, depth = 0 }: Omit<Place, 'depth'> & { depth?: number },
): { field: TypedName; scope: TypeScope }[] | undefined {
  if (depth > maxDepth || isOverLimit(definitions)) return undefined
  const inherited = bases.map((base) => {
    const found = resolveType(base, scope)
    if (found.kind !== 'definition') return recordBases.has(lastPart(base)) ? [] : undefined
    const { definition, scope: there } = found
    return definition.kind === 'class'
      ? recordFields(definition, { scope: there, definitions, depth: depth + 1 })
      : undefined
  })
  const isRecord =
    decorators.some((one) => recordDecorators.has(lastPart(one))) || inherited.some((one) => one !== undefined)
  if (!isRecord) return undefined
  const all = new Map(inherited.flatMap((one) => one ?? []).map((one) => [one.field.name, one]))
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
  place: Place,
): TypeSchema {
  const { definitions } = place
  const key = `${path}:${name}`
  const known = definitions.names.get(key)
  if (known !== undefined) return fits({ $ref: `#/$defs/${known}` })
  if (definitions.names.size >= maxDefinitions) return opaque(name)
  const plain = lastPart(name)
  const isTaken = [...definitions.names.values()].includes(plain)
  const id = isTaken ? `${plain}${definitions.names.size}` : plain
  definitions.names.set(key, id)
  const object = objectSchema(fields.map(({ field, scope }) => ({ field, place: { ...place, scope } })))
  if (object.hidden !== undefined) {
    definitions.names.delete(key)
    return opaque(object.hidden)
  }
  definitions.made.set(id, object.schema)
  return fits({ $ref: `#/$defs/${id}` })
}

export type ObjectSchema = {
  schema: JsonSchema
  /** The type of the first required one that cannot be written as data. */
  hidden: string | undefined
  /** Optional ones that cannot, and those that allow every value. */
  leftOut: string[]
  unconstrained: string[]
}

export function objectSchema(
  names: readonly { field: TypedName; place: Omit<Place, 'depth'> & { depth?: number } }[],
): ObjectSchema {
  const properties: [string, JsonSchema][] = []
  const [required, leftOut, unconstrained]: string[][] = [[], [], []]
  let hidden: string | undefined
  for (const { field, place } of names) {
    const found = fieldSchema(field, place)
    if (found.kind === 'opaque') {
      if (field.isRequired) hidden ??= `${field.name}: ${found.type}`
      else leftOut?.push(field.name)
      continue
    }
    properties.push([field.name, found.schema])
    if (field.isRequired) required?.push(field.name)
    if (Object.keys(found.schema).length === 0) unconstrained?.push(field.name)
  }
  const schema = { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false }
  return { schema, hidden, leftOut: leftOut ?? [], unconstrained: unconstrained ?? [] }
}

function fieldSchema(
  { type, default: value, rest }: TypedName,
  place: Omit<Place, 'depth'> & { depth?: number },
): TypeSchema {
  const one = type === undefined ? anything : schemaOfType(type, place)
  if (one.kind === 'opaque') return one
  const { schema } = one
  if (rest === 'list') return fits({ type: 'array', items: schema })
  if (rest === 'dict') return fits({ type: 'object', additionalProperties: schema })
  if (value === undefined || Object.keys(schema).length === 0) return one
  const allowed = value !== null || allowsNull(schema) ? schema : { anyOf: [schema, { type: 'null' }] }
  return fits({ ...allowed, default: value })
}
