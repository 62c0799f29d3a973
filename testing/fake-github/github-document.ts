import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

/** A limit is what GitHub answers with 422, as 51 annotations; the rest is a fault of whoever wrote the client. */
export type RequestFault = { kind: 'limit' | 'fault'; reason: string }

export type ApiOperation = {
  /** The path as the document has it, with its `{parameters}`. */
  template: string
  parameters: Record<string, string>
  checkRequest(query: URLSearchParams, body: unknown): RequestFault | undefined
  /** Why GitHub would not answer so; undefined when it may. */
  checkAnswer(status: number, body: unknown): string | undefined
}

export type ApiDocument = {
  operation(method: string, pathname: string): ApiOperation | undefined
  /** Why GitHub would not send this payload; undefined when it may. */
  checkWebhook(event: string, action: string | undefined, payload: unknown): string | undefined
}

let loaded: { document: unknown; api: ApiDocument } | undefined

/** GitHub's OpenAPI document: read once per process, each schema compiled when it is first needed. */
export function apiDocument(): ApiDocument {
  return load().api
}

/** Returns the example that the document has of an operation's good answer. */
export function apiExample(operation: string): unknown {
  const { document } = load()
  const [method = '', template = ''] = operation.split(' ')
  const responses = valueAt(document, 'paths', template, method.toLowerCase(), 'responses')
  const status = isRecord(responses) ? Object.keys(responses).find((one) => one.startsWith('2')) : undefined
  const response = resolved(document, valueAt(responses, status ?? ''))
  const examples = valueAt(response, 'content', 'application/json', 'examples')
  return valueAt(resolved(document, isRecord(examples) ? Object.values(examples)[0] : undefined), 'value')
}

function load() {
  if (loaded !== undefined) return loaded
  const require = createRequire(import.meta.url)
  const path = require.resolve('@octokit/openapi/generated/api.github.com.json')
  const document: unknown = JSON.parse(readFileSync(path, 'utf8'))
  loaded = { document, api: openDocument(document) }
  return loaded
}

function openDocument(document: unknown): ApiDocument {
  const compile = schemaCompiler(document)
  const templates = pathTemplates(document)
  const known = new Map<string, Omit<ApiOperation, 'parameters'>>()
  return {
    operation(method, pathname) {
      for (const { template, pattern } of templates) {
        const match = pattern.exec(pathname)
        const declared = valueAt(document, 'paths', template, method.toLowerCase())
        if (match === null || declared === undefined) continue
        const key = `${method} ${template}`
        const operation = known.get(key) ?? openOperation({ key, template, declared, document, compile })
        known.set(key, operation)
        const parameters = Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)])
        return { ...operation, parameters: Object.fromEntries(parameters) }
      }
      return undefined
    },
    checkWebhook(event, action, payload) {
      const name = [event, ...(action === undefined ? [] : [action])].join('-').replaceAll('_', '-')
      const content = valueAt(document, 'x-webhooks', name, 'post', 'requestBody', 'content', 'application/json')
      if (content === undefined) return `GitHub has no webhook ${name}`
      return compile(`webhook ${name}`, valueAt(content, 'schema'))(payload)
    },
  }
}

/** Paths with more fixed parts come first, so that `/issues/comments/{id}` is not taken for `/issues/{number}/{part}`. */
function pathTemplates(document: unknown): { template: string; pattern: RegExp }[] {
  const paths = valueAt(document, 'paths')
  const templates = Object.keys(isRecord(paths) ? paths : {}).filter((template) => !template.includes('{base}...'))
  const fixedParts = (template: string) => template.split('/').filter((part) => !part.includes('{')).length
  return templates
    .toSorted((one, other) => fixedParts(other) - fixedParts(one))
    .map((template) => {
      const pattern = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
        ['ref', 'path', 'basehead', 'branch'].includes(name) ? `(?<${name}>.*)` : `(?<${name}>[^/]+)`,
      )
      return { template, pattern: new RegExp(`^${pattern}$`) }
    })
}

/** Undefined for a value that matches, else how it does not. */
type Check = (value: unknown) => string | undefined
type SchemaCompiler = (key: string, schema: unknown) => Check

const base = 'https://api.github.com/components/'

function schemaCompiler(document: unknown): SchemaCompiler {
  const ajv = new Ajv({ strict: false, logger: false, inlineRefs: false, code: { optimize: false } })
  addFormats.default(ajv)
  ajv.addFormat('email', /^\S+@\S+$/) // that of a bot has brackets
  const added = new Set<string>()
  const compiled = new Map<string, ValidateFunction>()

  function address(reference: string): string {
    const id = base + encodeURI(reference.replace('#/components/', ''))
    if (added.has(id)) return id
    added.add(id)
    ajv.addSchema(toJsonSchema(valueAt(document, ...reference.slice(2).split('/')), address), id)
    return id
  }

  return (key, schema) => (value) => {
    const check = compiled.get(key) ?? ajv.compile(toJsonSchema(schema, address))
    compiled.set(key, check)
    if (check(value)) return undefined
    const errors = (check.errors ?? []).slice(0, 4)
    return errors.map((error) => `${error.keyword} at ${error.instancePath || '/'}: ${error.message}`).join('; ')
  }
}

type Declared = { key: string; template: string; declared: unknown; document: unknown; compile: SchemaCompiler }

function openOperation({ key, template, declared, document, compile }: Declared): Omit<ApiOperation, 'parameters'> {
  const inQuery = queryNames(declared, document)
  const bodySchema = valueAt(declared, 'requestBody', 'content', 'application/json', 'schema')
  return {
    template,
    checkRequest(query, body) {
      const unknown = [...query.keys()].filter((name) => !inQuery.has(name))
      if (unknown.length > 0) return { kind: 'fault', reason: `the query has ${unknown.join(', ')}` }
      if (body === undefined) {
        const required = valueAt(declared, 'requestBody', 'required') === true
        return required ? { kind: 'fault', reason: 'the body is missing' } : undefined
      }
      const strange = unknownNames(bodySchema, body)
      if (strange.length > 0) return { kind: 'fault', reason: `the body has ${strange.join(', ')}` }
      const badBody = bodySchema === undefined ? undefined : compile(`${key} body`, bodySchema)(body)
      if (badBody === undefined) return undefined
      return { kind: /maxItems|maxLength/.test(badBody) ? 'limit' : 'fault', reason: `body: ${badBody}` }
    },
    checkAnswer(status, body) {
      if (status >= 400) return undefined
      const response = resolved(document, valueAt(declared, 'responses', String(status)))
      if (response === undefined) return `GitHub documents no status ${status} here`
      const schema = valueAt(response, 'content', 'application/json', 'schema')
      return schema === undefined ? undefined : compile(`${key} ${status}`, schema)(body)
    },
  }
}

/** Names at the top of a body that GitHub does not document: it would ignore them silently. */
function unknownNames(schema: unknown, body: unknown): string[] {
  const properties = valueAt(schema, 'properties')
  if (!isRecord(properties) || !isRecord(body)) return []
  return Object.keys(body).filter((name) => !(name in properties))
}

function queryNames(declared: unknown, document: unknown): ReadonlySet<string> {
  const parameters = valueAt(declared, 'parameters')
  const all = (Array.isArray(parameters) ? parameters : []).map((one) => resolved(document, one))
  return new Set(all.filter((one) => valueAt(one, 'in') === 'query').map((one) => String(valueAt(one, 'name'))))
}

/** What explains a schema to people, and keywords of OpenAPI that JSON Schema does not have. */
const ignored = new Set(['example', 'examples', 'description', 'title', 'externalDocs', 'discriminator', 'xml'])
const verbatim = new Set(['enum', 'const', 'default', 'required', 'type', 'format', 'pattern'])

/**
 * A schema of OpenAPI 3.0 as JSON Schema: `nullable` becomes a choice with null, also beside an enum; names beside a `$ref` are
 * dropped; `address` says by what id the referenced schema is known.
 */
function toJsonSchema(schema: unknown, address: (reference: string) => string): object {
  if (!isRecord(schema)) return {}
  const reference = schema['$ref']
  if (typeof reference === 'string') return { $ref: address(reference) }
  const result: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'nullable' || ignored.has(keyword) || keyword.startsWith('x-')) continue
    result[keyword] = converted(keyword, value, address)
  }
  return schema['nullable'] === true ? { anyOf: [result, { type: 'null' }] } : result
}

function converted(keyword: string, value: unknown, address: (reference: string) => string): unknown {
  if (verbatim.has(keyword)) return value
  if (Array.isArray(value)) return value.map((one) => toJsonSchema(one, address))
  if (!isRecord(value)) return value
  if (keyword !== 'properties') return toJsonSchema(value, address)
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toJsonSchema(one, address)]))
}

function resolved(document: unknown, value: unknown): unknown {
  const reference = valueAt(value, '$ref')
  return typeof reference === 'string' ? valueAt(document, ...reference.slice(2).split('/')) : value
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns what is at these keys inside `value`, one below the other. */
export function valueAt(value: unknown, ...keys: string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value)
}
