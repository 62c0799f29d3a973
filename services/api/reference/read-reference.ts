import { z } from 'zod'
import { errorPolicies, isErrorCode } from '#domain/error.ts'
import type { ApiDocument } from './api-document.ts'

/** `takes` describes the accepted values in words; `note` says more about them. */
export type FieldRow = { name: string; takes: string; isRequired: boolean; note: string }

export type EndpointReference = {
  method: string
  path: string
  summary: string
  description: string
  /** The scope that is needed; undefined: no token is needed. */
  scope: string | undefined
  parameters: (FieldRow & { in: string })[]
  /** By content type. */
  bodies: { type: string; rows: FieldRow[] }[]
  answers: { status: string; text: string }[]
  /** The endpoint's own. What any endpoint may answer is described once. */
  problems: { status: number; code: string; meaning: string }[]
}

export type Reference = {
  intro: string
  groups: { tag: string; endpoints: EndpointReference[] }[]
  schemas: { name: string; note: string; text: string; rows: FieldRow[] }[]
}

/** Longer lists of words are shown by their name. */
const mostWords = 12

/** As much of an OpenAPI 3.1 schema as a reader is shown. References are not followed, so a schema is a tree. */
export const SchemaView = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  pattern: z.string().optional(),
  get items() {
    return SchemaView.optional()
  },
  get properties() {
    return z.record(z.string(), SchemaView).optional()
  },
  required: z.array(z.string()).optional(),
  get additionalProperties() {
    return z.union([SchemaView, z.boolean()]).optional()
  },
  get anyOf() {
    return z.array(SchemaView).optional()
  },
  get oneOf() {
    return z.array(SchemaView).optional()
  },
  get allOf() {
    return z.array(SchemaView).optional()
  },
})
export type SchemaView = z.infer<typeof SchemaView>

const Content = z.record(z.string(), z.object({ schema: SchemaView }))
const Operation = z.object({
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string().default(''),
  'x-error-codes': z.array(z.string()).default([]),
  security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.string(),
        required: z.boolean().default(false),
        description: z.string().default(''),
        schema: SchemaView,
      }),
    )
    .default([]),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: Content.default({}) })),
})
const Document = z.object({
  info: z.object({ description: z.string() }),
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), SchemaView) }),
})

/** The document's content in the order and the words of the reference. */
export function readReference(given: ApiDocument): Reference {
  const document = Document.parse(given)
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const { schemas } = document.components
  return {
    intro: document.info.description,
    groups: document.tags.map(({ name }) => ({
      tag: name,
      endpoints: all.filter(({ operation }) => operation.tags.includes(name)).map((one) => endpointOf(one, schemas)),
    })),
    schemas: Object.entries(schemas).map(([name, schema]) => ({
      name,
      note: schema.description ?? '',
      text: schemaText(schema),
      rows: rowsOf(schema, schemas),
    })),
  }
}

type Declared = { path: string; method: string; operation: z.infer<typeof Operation> }

function endpointOf({ path, method, operation }: Declared, schemas: Record<string, SchemaView>): EndpointReference {
  const { summary, description, security, parameters, requestBody, responses, 'x-error-codes': codes } = operation
  return {
    method,
    path,
    summary,
    description,
    scope: security[0]?.['bearer']?.[0],
    parameters: parameters.map(({ name, in: place, required, description: note, schema }) => ({
      ...rowOf(name, withWords(schema, schemas), required),
      note,
      in: place,
    })),
    bodies: Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => ({
      type,
      rows: rowsOf(resolve(schema, schemas), schemas),
    })),
    answers: Object.entries(responses).flatMap(([status, { description: text, content }]) =>
      answersOf(status, text, content),
    ),
    problems: codes.filter(isErrorCode).map((code) => {
      const { status, meaning } = errorPolicies[code]
      return { status, code, meaning }
    }),
  }
}

function answersOf(status: string, text: string, content: z.infer<typeof Content>): { status: string; text: string }[] {
  const types = Object.entries(content)
  if (types.some(([type]) => type === 'application/problem+json')) return []
  const shapes = types.map(([type, { schema }]) => `${schemaText(schema)} (${type})`)
  return [{ status, text: [text, shapes.join(' or ')].filter((part) => part !== '').join(': ') }]
}

function resolve(schema: SchemaView, schemas: Record<string, SchemaView>): SchemaView {
  return schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema
}

function rowsOf(
  { properties = {}, required = [] }: SchemaView,
  schemas: Readonly<Record<string, SchemaView>>,
): FieldRow[] {
  return Object.entries(properties).map(([name, schema]) =>
    rowOf(name, withWords(schema, schemas), required.includes(name)),
  )
}

/** Replaces a reference to a short list of words by the words, so that nobody has to look them up. */
function withWords(schema: SchemaView, schemas: Readonly<Record<string, SchemaView>>): SchemaView {
  if (schema.items !== undefined) return { ...schema, items: withWords(schema.items, schemas) }
  const named = schemas[schema.$ref?.split('/').at(-1) ?? '']
  return named?.enum !== undefined && named.enum.length <= mostWords ? named : schema
}

function rowOf(name: string, schema: SchemaView, isRequired: boolean): FieldRow {
  return { name, takes: schemaText(schema), isRequired, note: schema.description ?? '' }
}

/** A schema in a few words: `string`, `Run`, `list of Node`, `"none" or "auto"`, `integer, 1 to 100`. */
export function schemaText(schema: SchemaView): string {
  return [shapeText(schema), ...boundTexts(schema)].join(', ')
}

function shapeText(schema: SchemaView): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? ''
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (choices !== undefined) return choices.map(schemaText).join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  const types = [schema.type ?? 'any'].flat()
  return types.map((type) => ofType(type, schema)).join(' or ')
}

function ofType(type: string, { format, items, additionalProperties, properties }: SchemaView): string {
  if (format === 'binary') return 'bytes'
  if (type === 'array') return items === undefined ? 'list' : `list of ${schemaText(items)}`
  if (type !== 'object') return type
  if (properties !== undefined) return `{${Object.keys(properties).join(', ')}}`
  return typeof additionalProperties === 'object' ? `object of ${schemaText(additionalProperties)}` : 'object'
}

function boundTexts(schema: SchemaView): string[] {
  const { default: usual, pattern } = schema
  return [
    ...range(schema.minimum, schema.maximum, ''),
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minItems, schema.maxItems, ' entries'),
    ...(pattern === undefined ? [] : [`as ${pattern}`]),
    ...(usual === undefined ? [] : [`${JSON.stringify(usual)} without it`]),
  ]
}

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least === undefined && most === undefined) return []
  if (most === undefined) return [`at least ${least}${unit}`]
  return [least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`]
}
