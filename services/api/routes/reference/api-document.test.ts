import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { apiDocument } from './api-document.ts'

/** As much of a schema as is looked at here. References are not followed, so it is a tree. */
const SchemaView = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  required: z.array(z.string()).optional(),
  get items() {
    return SchemaView.optional()
  },
  get properties() {
    return z.record(z.string(), SchemaView).optional()
  },
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
type SchemaView = z.infer<typeof SchemaView>

const Contents = z.record(z.string(), z.looseObject({ schema: SchemaView }))
const Operation = z.object({
  operationId: z.string(),
  summary: z.string().min(1),
  tags: z.array(z.string()).length(1),
  parameters: z.array(z.object({ name: z.string(), schema: SchemaView })).default([]),
  requestBody: z.object({ content: Contents }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string().min(1), content: Contents.default({}) })),
})
const Document = z.object({
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), SchemaView) }),
})

const document = Document.parse(JSON.parse(JSON.stringify(apiDocument())))
const { schemas } = document.components
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ at: `${method.toUpperCase()} ${path}`, ...operation })),
)

/**
 * What generators of clients would have to make up a name for, or refuse, at the use of a schema: objects, maps, enums of
 * several words, unions. A reference, a scalar, an array of these, and a reference or null need no name.
 */
function anonymousParts(at: string, schema: SchemaView): string[] {
  if (schema.$ref !== undefined) return []
  if (schema.items !== undefined) return anonymousParts(`${at}[]`, schema.items)
  const choices = schema.anyOf?.filter(({ type }) => type !== 'null')
  if (choices?.length === 1 && choices[0]?.$ref !== undefined) return []
  const isObject = [schema.type].flat().includes('object') || schema.properties !== undefined
  const isUnion = (schema.anyOf ?? schema.oneOf ?? schema.allOf) !== undefined
  const isEnum = (schema.enum?.length ?? 0) > 1
  return isObject || isUnion || isEnum || schema.additionalProperties !== undefined ? [at] : []
}

/** The parts of a named schema, each as anything that uses schemas. */
function anonymousPartsOf(name: string, { properties = {}, additionalProperties, ...schema }: SchemaView): string[] {
  const parts = Object.entries(properties).flatMap(([field, part]) => anonymousParts(`${name}.${field}`, part))
  const values = typeof additionalProperties === 'object' ? anonymousParts(`${name}.*`, additionalProperties) : []
  const options = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  const items = schema.items === undefined ? [] : anonymousParts(`${name}[]`, schema.items)
  return [...parts, ...values, ...items, ...options.flatMap((option) => anonymousParts(`${name}|`, option))]
}

describe('the schemas of the OpenAPI document', () => {
  it('all have names', () => {
    const inOperations = operations.flatMap(({ at, parameters, requestBody, responses }) => [
      ...parameters.flatMap(({ name, schema }) => anonymousParts(`${at} ?${name}`, schema)),
      ...[requestBody ?? { content: {} }, ...Object.values(responses)].flatMap(({ content }) =>
        Object.entries(content).flatMap(([type, { schema }]) => anonymousParts(`${at} ${type}`, schema)),
      ),
    ])
    const inSchemas = Object.entries(schemas).flatMap(([name, schema]) => anonymousPartsOf(name, schema))
    expect([...inOperations, ...inSchemas]).toEqual([])
    expect(Object.keys(schemas).length).toBeGreaterThan(60)
  })

  it.each<[string, SchemaView]>([
    ['an object', { type: 'object', properties: { a: { type: 'string' } } }],
    ['an object or null', { type: ['object', 'null'] }],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }],
    ['words', { type: 'string', enum: ['a', 'b'] }],
    ['a union', { oneOf: [{ $ref: '#/a' }, { $ref: '#/b' }] }],
    ['a described reference', { allOf: [{ $ref: '#/a' }, { description: 'x' }] }],
    ['a list of objects', { type: 'array', items: { type: 'object' } }],
  ])('are found where they have none: %s', (_, schema) => {
    expect(anonymousPartsOf('Planted', { type: 'object', properties: { field: schema } })).toHaveLength(1)
  })

  it('are never null themselves: what may be null says so where it is used', () => {
    const nullable = Object.entries(schemas).filter(([, { type }]) => [type].flat().includes('null'))
    expect(nullable).toEqual([])
  })

  it('demand nothing of a request that has a default', () => {
    const withDefault = Object.entries(schemas).flatMap(([name, { properties = {}, ...schema }]) =>
      [schema, ...Object.values(properties)].some((one) => one.default !== undefined) ? [name] : [],
    )
    expect(withDefault).toEqual([])
    expect(schemas['RunRequest']?.required).toBeUndefined()
    expect(schemas['RunRequest']?.properties?.['priority']?.description).toBe('Default: 5.')
  })
})

describe('the operations of the OpenAPI document', () => {
  it('have names that a client can call its methods by', () => {
    const names = operations.map(({ operationId }) => operationId)
    expect(new Set(names).size).toBe(names.length)
    const verbs =
      'submit|ask|tell|approve|publish|take|list|get|set|cancel|retry|delete|answer|decide|create|revoke|plan'
    expect(names.filter((name) => !new RegExp(`^(?:${verbs})(?:[A-Z][a-z]+)+$`).test(name))).toEqual([])
    const groups = document.tags.map(({ name }) => name)
    expect(operations.filter(({ tags }) => !groups.includes(tags[0] ?? ''))).toEqual([])
  })

  it('take an archive as a binary part beside a named request of JSON', () => {
    const submit = operations.find(({ operationId }) => operationId === 'submitRun')
    expect(submit?.requestBody?.content).toMatchObject({
      'multipart/form-data': {
        schema: { $ref: '#/components/schemas/RunSubmission' },
        encoding: { request: { contentType: 'application/json' } },
      },
    })
    expect(apiDocument().components?.schemas?.['RunSubmission']).toMatchObject({
      required: ['request', 'archive'],
      properties: {
        request: { $ref: '#/components/schemas/RunRequest' },
        archive: { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' },
      },
    })
  })

  it('answer patches, pages and streams as text', () => {
    const texts = operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses['200']?.content ?? {})
        .filter(([type]) => type.startsWith('text/'))
        .map(([type, { schema }]) => `${operationId} ${type} ${String(schema.type)}`),
    )
    expect(texts.toSorted()).toEqual([
      'getArtifact text/plain string',
      'getDashboard text/html string',
      'getPatch text/x-diff string',
      'getReferencePage text/html string',
      'getTranscript text/event-stream string',
      'getTranscript text/markdown string',
      'listEvents text/event-stream string',
      'listProjectEvents text/event-stream string',
    ])
  })
})
