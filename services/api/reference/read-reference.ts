import { z } from 'zod'
import { errorPolicies, isErrorCode } from '#domain/error.ts'
import type { ApiDocument } from './api-document.ts'
import { schemaText, SchemaView } from './schema-text.ts'

/** `takes` is what may be given, in words; `note` more about it. */
export type FieldRow = { name: string; takes: string; isRequired: boolean; note: string }

export type EndpointReference = {
  method: string
  path: string
  summary: string
  description: string
  /** The scope that is needed; undefined: no token. */
  scope: string | undefined
  parameters: (FieldRow & { in: string })[]
  /** By content type. */
  bodies: { type: string; rows: FieldRow[] }[]
  answers: { status: string; text: string }[]
  /** Those of its own: what any endpoint may answer is said once. */
  problems: { status: number; code: string; meaning: string }[]
}

export type Reference = {
  intro: string
  groups: { tag: string; endpoints: EndpointReference[] }[]
  schemas: { name: string; note: string; text: string; rows: FieldRow[] }[]
}

/** Longer lists are shown by their name. */
const mostWords = 12

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

/** The document in the order and the words in which it is read. */
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

/** A reference to a short list of words is replaced by the words, so that nobody has to look them up. */
function withWords(schema: SchemaView, schemas: Readonly<Record<string, SchemaView>>): SchemaView {
  if (schema.items !== undefined) return { ...schema, items: withWords(schema.items, schemas) }
  const named = schemas[schema.$ref?.split('/').at(-1) ?? '']
  return named?.enum !== undefined && named.enum.length <= mostWords ? named : schema
}

function rowOf(name: string, schema: SchemaView, isRequired: boolean): FieldRow {
  return { name, takes: schemaText(schema), isRequired, note: schema.description ?? '' }
}
