import { isRecord } from '#domain/json.ts'
import type { JsonSchema } from './known-types.ts'
import type { TypedName } from './module-types.ts'
import type { ModuleAt, TypeScope } from './resolve-type.ts'
import { type Definitions, isOverLimit, newDefinitions, objectSchema, recordFields } from './type-schema.ts'

export type SampledSignature = {
  /** Shows the parameters as the source writes them, on one line: `(sku: str, quantity: int = 1)`. */
  signature: string
  schema: JsonSchema
  parameters: { name: string; isRequired: boolean; schema: JsonSchema }[]
  /** Names those for which every value is allowed. */
  unconstrained: string[]
  /** Names optional ones whose values cannot be written as data. */
  leftOut: string[]
}

export type SignatureAnswer =
  | { kind: 'found'; signature: SampledSignature }
  /** Says why, in words that follow the name of the definition. */
  | { kind: 'unfit'; reason: string }
  /** Names files that must be read first; the answer may then need others. */
  | { kind: 'unread'; paths: string[] }

export function sampledSignature(
  { path, qualifiedName }: { path: string; qualifiedName: string },
  at: ModuleAt,
): SignatureAnswer {
  const module = at(path)
  if (module === undefined) return { kind: 'unread', paths: [path] }
  const scope = module && { path, module, at, unread: new Set<string>() }
  const shared = newDefinitions()
  const taken = scope && takenBy(qualifiedName, scope, shared)
  const answer = taken ? answerFor(taken, shared) : unfit('is no function of its module, and no class that holds data')
  const unread = [...(scope?.unread ?? [])]
  if (unread.length > 0) return { kind: 'unread', paths: unread }
  return isOverLimit(shared, 0) ? unfit('has types of too many parts') : answer
}

function unfit(reason: string): SignatureAnswer {
  return { kind: 'unfit', reason }
}

type Taken = { field: TypedName; scope: TypeScope }

function takenBy(qualifiedName: string, scope: TypeScope, shared: Definitions): Taken[] | undefined {
  const { definitions } = scope.module
  const definition = Object.hasOwn(definitions, qualifiedName) ? definitions[qualifiedName] : undefined
  if (definition?.kind === 'function') return definition.parameters.map((field) => ({ field, scope }))
  return definition?.kind === 'class' ? recordFields(definition, { scope, definitions: shared }) : undefined
}

function answerFor(taken: readonly Taken[], definitions: Definitions): SignatureAnswer {
  if (taken.length === 0) return unfit('takes no arguments')
  if (taken.every(({ field }) => field.type === undefined)) return unfit('has no types of its parameters')
  const names = taken.map(({ field, scope }) => ({ field, lookup: { scope, definitions } }))
  const { schema, hidden, leftOut, unconstrained } = objectSchema(names)
  if (hidden !== undefined) return unfit(`takes what is no data (${hidden})`)
  const properties = taken.flatMap(({ field: { name, isRequired } }) => {
    const own = propertyOf(schema, name)
    return own === undefined ? [] : [{ name, isRequired, schema: own }]
  })
  if (properties.every(({ schema: own }) => Object.keys(own).length === 0))
    return unfit('has no types that limit its arguments')
  const made = Object.fromEntries(definitions.made)
  return {
    kind: 'found',
    signature: {
      signature: `(${taken.map(({ field }) => field.text).join(', ')})`,
      schema: { ...schema, ...(definitions.made.size > 0 && { $defs: made }) },
      parameters: properties,
      unconstrained,
      leftOut,
    },
  }
}

function propertyOf({ properties }: JsonSchema, name: string): JsonSchema | undefined {
  const own = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isRecord(own) ? own : undefined
}
