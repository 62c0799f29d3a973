import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv, type ValidateFunction } from 'ajv'
import { isRecord, toJsonSchema, valueAt } from './openapi-schema.ts'
import addFormats from 'ajv-formats'

/** A limit is what GitHub answers with 422, as 51 annotations; the rest is a fault of whoever wrote the client. */
export type RequestFault = { kind: 'limit' | 'fault'; reason: string }

export type ApiOperation = {
  method: string
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

let loaded: ApiDocument | undefined

/** GitHub's OpenAPI document: read once per process, each schema compiled when it is first needed. */
export function apiDocument(): ApiDocument {
  loaded ??= openDocument()
  return loaded
}

function openDocument(): ApiDocument {
  const require = createRequire(import.meta.url)
  const path = require.resolve('@octokit/openapi/generated/api.github.com.json')
  const document: unknown = JSON.parse(readFileSync(path, 'utf8'))
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
        const operation = known.get(key) ?? openOperation({ method, template, declared, document, compile })
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

/** Paths with more fixed parts come first, so that `/pulls/comments` is not taken for `/pulls/{pull_number}`. */
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
type SchemaCompiler = (key: string, schema: unknown, options?: { fromText?: boolean }) => Check

const base = 'https://api.github.com/components/'

function schemaCompiler(document: unknown): SchemaCompiler {
  const settings = { strict: false, logger: false, inlineRefs: false, code: { optimize: false } } as const
  const validators = { json: new Ajv(settings), text: new Ajv({ ...settings, coerceTypes: true }) }
  const added = { json: new Set<string>(), text: new Set<string>() }
  const compiled = new Map<string, ValidateFunction>()
  for (const ajv of Object.values(validators)) {
    addFormats.default(ajv)
    ajv.addFormat('email', /^\S+@\S+$/) // that of a bot has brackets
  }

  return (key, schema, { fromText = false } = {}) => {
    const kind = fromText ? 'text' : 'json'
    function address(reference: string): string {
      const id = base + encodeURI(reference.replace('#/components/', ''))
      if (added[kind].has(id)) return id
      added[kind].add(id)
      validators[kind].addSchema(toJsonSchema(valueAt(document, ...reference.slice(2).split('/')), address), id)
      return id
    }
    return (value) => {
      const check = compiled.get(key) ?? validators[kind].compile(toJsonSchema(schema, address))
      compiled.set(key, check)
      if (check(value)) return undefined
      const errors = (check.errors ?? []).slice(0, 4)
      return errors.map((error) => `${error.keyword} at ${error.instancePath || '/'}: ${error.message}`).join('; ')
    }
  }
}

type Declared = { method: string; template: string; declared: unknown; document: unknown; compile: SchemaCompiler }

function openOperation({ method, template, declared, document, compile }: Declared): Omit<ApiOperation, 'parameters'> {
  const key = `${method} ${template}`
  const resolve = (value: unknown) => {
    const reference = valueAt(value, '$ref')
    return typeof reference === 'string' ? valueAt(document, ...reference.slice(2).split('/')) : value
  }
  const checkQuery = compile(`${key} query`, querySchema(declared, resolve), { fromText: true })
  const bodySchema = valueAt(declared, 'requestBody', 'content', 'application/json', 'schema')
  return {
    method,
    template,
    checkRequest(query, body) {
      const badQuery = checkQuery(Object.fromEntries(query))
      if (badQuery !== undefined) return { kind: 'fault', reason: `query: ${badQuery}` }
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
      if (status === 304 && method === 'GET') return undefined // of every operation with an ETag, documented or not
      const response = resolve(valueAt(declared, 'responses', String(status)))
      if (response !== undefined) {
        const schema = valueAt(response, 'content', 'application/json', 'schema')
        if (schema !== undefined) return compile(`${key} ${status}`, schema)(body)
        return body === undefined || status >= 400 ? undefined : `a body with status ${status}`
      }
      if (status < 400) return `GitHub documents no status ${status} here`
      const name = status === 422 ? 'validation-error' : 'basic-error'
      return compile(name, { $ref: `#/components/schemas/${name}` })(body)
    },
  }
}

/** Names at the top of a body that GitHub does not document: it would ignore them silently. */
function unknownNames(schema: unknown, body: unknown): string[] {
  const properties = valueAt(schema, 'properties')
  if (!isRecord(properties) || !isRecord(body)) return []
  return Object.keys(body).filter((name) => !(name in properties))
}

function querySchema(declared: unknown, resolve: (value: unknown) => unknown): unknown {
  const parameters = valueAt(declared, 'parameters')
  const inQuery = (Array.isArray(parameters) ? parameters : [])
    .map(resolve)
    .filter((one) => valueAt(one, 'in') === 'query')
  const properties = inQuery.map((one) => [String(valueAt(one, 'name')), valueAt(one, 'schema')])
  return { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false }
}
