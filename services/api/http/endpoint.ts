import { createRoute, type RouteConfig, z } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { AppError, type ErrorCode, errorPolicies } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import type { Scope } from '#domain/scope.ts'
import { readBody } from '#platform/read-body.ts'
import { Problem } from '#schemas/problem-schema.ts'
import { IdempotencyHeader } from '#stages/intake/idempotency.ts'
import type { ApiEnv, Caller } from './api-env.ts'

const ofAll = ['HTTP_004', 'HTTP_005', 'HTTP_006', 'HTTP_007', 'HTTP_008', 'LIMIT_001'] as const
const withToken = ['AUTH_001', 'AUTH_002', 'RUN_002', 'STORE_001'] as const
const ofRun = ['RUN_001', 'RUN_005'] as const
const withJson = ['HTTP_003', 'INTAKE_003', 'INTAKE_008'] as const

/**
 * Enforces the declaration: schemas parse the input, the scope is required (null needs no token), an undeclared query parameter is refused.
 * `problems` are the endpoint's own codes; those of any endpoint, and of any endpoint of a run, are added.
 */
export function endpoint<const R extends RouteConfig>(
  scope: Scope | 'operator' | null,
  problems: readonly ErrorCode[],
  route: R,
) {
  // A route whose body has no schema of zod reads it itself.
  const json = route.request?.body?.content['application/json']
  const takesJson = json !== undefined && 'schema' in json && json.schema instanceof z.ZodType
  const added = [...(scope === null ? [] : withToken), ...(takesJson ? withJson : [])]
  const codes = [...(route.path.includes('{run_id}') ? ofRun : []), ...problems, ...ofAll, ...added]
  const middleware = [...(scope === null ? [] : [needScope(scope)]), ...(takesJson ? [readJsonBody] : [])]
  return createRoute<R['path'], R>({
    ...route,
    description: [route.description ?? '', needText(scope)].join('\n\n').trim(),
    request: { query: z.strictObject({}), ...route.request },
    ...(middleware.length === 0 ? {} : { middleware }),
    security: scope === null ? [] : [{ bearer: [scope] }],
    responses: { ...route.responses, ...problemAnswers(codes) },
  })
}

function needText(scope: Scope | 'operator' | null): string {
  if (scope === null) return 'Needs no token.'
  return scope === 'operator' ? 'Needs the token of the operator.' : `Needs the scope \`${scope}\`.`
}

export function jsonAnswer<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } }
}

export function jsonBody<Schema extends z.ZodType>(schema: Schema) {
  return { content: { 'application/json': { schema } } } as const
}

/** Is the request of a POST that does something once for its key. */
export function jsonCommand<Schema extends z.ZodType>(schema: Schema) {
  return { headers: IdempotencyHeader, body: { required: true, ...jsonBody(schema) } } as const
}

function needScope(scope: Scope | 'operator'): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const caller = context.get('caller')
    if (scope === 'operator') requireOperator(caller)
    else if (!caller.scopes.includes(scope)) {
      throw new AppError('AUTH_002', `This needs a token with the scope ${scope}.`)
    }
    await next()
  }
}

/** AUTH_002 for any token but that of the environment. */
export function requireOperator({ isOperator }: Caller): void {
  if (!isOperator) throw new AppError('AUTH_002', 'This needs the token of the operator: REMORA_TOKEN of the service.')
}

function problemAnswers(codes: readonly ErrorCode[]): RouteConfig['responses'] {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorPolicies[code].status)
  const answers = [...byStatus].map(([status, those]) => {
    const description = those.map((code) => `${code}: ${errorPolicies[code].meaning}`).join('; ')
    return [status, { description, content: { 'application/problem+json': { schema: Problem } } }] as const
  })
  return Object.fromEntries(answers)
}

const maxBodyBytes = 64 * 1024

/** INTAKE_003 above 64 KiB. No body counts as `{}`; one of another type is HTTP_003, one that breaks off HTTP_004. */
const readJsonBody: MiddlewareHandler<ApiEnv> = async (context, next) => {
  const { raw } = context.req
  const type = raw.headers.get('content-type')
  const text = (await readBody(raw, { maxBytes: maxBodyBytes })).toString()
  const isEmpty = text.trim() === ''
  if (!isEmpty && !/^application\/json *(;|$)/i.test(type ?? '')) {
    throw new AppError('HTTP_003', 'Send the body as content-type: application/json.')
  }
  if (hasHalfCharacter(text)) throw new AppError('INTAKE_008', 'body: a text has half of a character.')
  const headers = new Headers(raw.headers)
  headers.set('content-type', 'application/json')
  context.req.raw = new Request(raw.url, { method: raw.method, headers, body: isEmpty ? '{}' : text })
  await next()
}

/** Half a surrogate pair is no text that a store or another program takes as it is. JSON.stringify escapes such halves, and nothing else of these numbers. */
function hasHalfCharacter(text: string): boolean {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return false
  const parsed: unknown = parseJson(text)
  return /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(JSON.stringify(parsed) ?? '')
}
