import type { Hook } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { routePath } from 'hono/route'
import { secureHeaders } from 'hono/secure-headers'
import { AppError, asAppError, type ErrorCode, errorPolicies } from '#domain/error.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type Log, redisName, storeAtFault, type StoreLog } from '#platform/log.ts'
import { isOwnError } from '#platform/redis-client.ts'
import type { RefusedView } from '#schemas/decision-schema.ts'
import type { Problem } from '#schemas/problem-schema.ts'
import type { ApiEnv } from './api-env.ts'

/** `Retry-After` says when the same request may be answered. */
export class AskAgain extends AppError {
  readonly retryAfterS: number

  constructor(code: ErrorCode, message: string, retryAfterS: number) {
    super(code, message)
    this.retryAfterS = retryAfterS
  }
}

/** All decisions of a request were refused, for the reason of the first. */
export class NothingDecided extends AppError {
  readonly refused: RefusedView[]
  readonly refusedCount: number

  constructor(first: { code: ErrorCode; detail: string }, refused: { shown: RefusedView[]; count: number }) {
    super(first.code, first.detail)
    this.refused = refused.shown
    this.refusedCount = refused.count
  }
}

/** Another command has taken the result of a run. */
export class ResultTaken extends AppError {
  readonly about: { taken_by: string; taken_at: string }

  constructor(runId: string, by: string, at: string) {
    super('RUN_010', `The result of run "${runId}" was taken by ${by} at ${at}.`)
    this.about = { taken_by: by, taken_at: at }
  }
}

/** No cache may store an answer, and no browser may load resources for it, put it into a frame or guess its type. */
export const safeHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

const networkCodes = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH']

/** Redis that is unreachable is STORE_001. What is no AppError is a bug: 500, with the message only in the log. */
export function problemHandler(deps: { log: Pick<Log, 'debug' | 'error'>; isRedisReady(): boolean }) {
  return (error: unknown, context: Context<ApiEnv>): Response => {
    const known = knownError(error, deps.isRedisReady()) ?? new AppError('HTTP_007', 'Unexpected error.')
    if (storeAtFault(known) !== undefined) context.set('storeFault', known)
    const isSaid = known.code === 'STORE_001' || known.code === 'STORE_002'
    const problem = problemOf(known, { runId: context.req.param('run_id'), requestId: context.get('requestId') })
    if (problem.status >= 500 && problem.error_code !== 'LIMIT_002') {
      const { method, path } = context.req
      const note = isSaid ? deps.log.debug : deps.log.error
      note('request failed', { requestId: context.get('requestId'), method, path, error })
    }
    const response = problemResponse(problem, context)
    if (known instanceof AskAgain) response.headers.set('retry-after', String(known.retryAfterS))
    // It is not known when one of the runs ends.
    if (known.code === 'LIMIT_003') response.headers.delete('retry-after')
    return response
  }
}

/** An outage of Redis has one line in the log for each route: a Redis that is full refuses only those that write. */
export function storeOutages(log: StoreLog): MiddlewareHandler<ApiEnv> {
  const routes = new Map<string, object>()
  return async (context, next) => {
    await next()
    const fault: AppError | undefined = context.get('storeFault')
    const part = getOrMake(routes, `${context.req.method} ${routePath(context, -1)}`, () => ({}))
    if (fault?.code === 'STORE_001') log.failing(redisName, part, fault)
    else if (context.res.ok) log.working(redisName, part)
  }
}

/** The message of an internal fault may name hosts and files: it is only logged. */
export function problemOf(error: AppError, about: { runId?: string | undefined; requestId?: string } = {}): Problem {
  const { meaning } = errorPolicies[error.code]
  const { runId, requestId } = about
  const hidden = requestId === undefined ? meaning : `${meaning}; request ${requestId}`
  return {
    type: `urn:remora:error:${error.code}`,
    title: meaning,
    status: error.status,
    detail: error.detail ?? (error.status >= 500 ? hidden : error.message),
    error_code: error.code,
    ...(runId === undefined ? {} : { run_id: runId }),
    ...(error instanceof NothingDecided ? { refused_count: error.refusedCount, refused: error.refused } : {}),
    ...(error instanceof ResultTaken ? error.about : {}),
  }
}

export function problemHeaders(status: number): Record<string, string> {
  return {
    'content-type': 'application/problem+json',
    ...safeHeaders,
    ...(status === 401 ? { 'www-authenticate': 'Bearer realm="remora"' } : {}),
    ...(status === 429 ? { 'retry-after': '1' } : {}),
    ...(status === 503 ? { 'retry-after': '5' } : {}),
  }
}

export function unknownRoute(context: Context<ApiEnv>): Response {
  const detail = `There is no ${context.req.method} ${context.req.path.slice(0, 200)}.`
  return problemResponse(problemOf(new AppError('HTTP_001', detail)), context)
}

export function methodNotAllowedProblem(context: Context<ApiEnv>, methods: readonly string[]): Response {
  const allow = methods.join(', ')
  context.header('allow', allow)
  return problemResponse(problemOf(new AppError('HTTP_002', `${context.req.method} is not one of ${allow}.`)), context)
}

function knownError(error: unknown, redisReady: boolean): AppError | undefined {
  if (error instanceof AppError) return error
  if (error instanceof HTTPException && error.status === 400) return new AppError('INTAKE_008', 'The body is not JSON.')
  if (error instanceof HTTPException && error.status === 415) return new AppError('HTTP_003', 'Send application/json.')
  const isRedisAway = isRedisUnreachable(error) || (!redisReady && !isOwnError(error))
  return isRedisAway ? asAppError(error, 'STORE_001') : undefined
}

function isRedisUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'MaxRetriesPerRequestError') return true
  return 'code' in error && networkCodes.some((code) => code === error.code)
}

/** The context keeps the headers that the middlewares have set. */
function problemResponse(problem: Problem, context: Context<ApiEnv>): Response {
  const { status } = problem
  return context.newResponse(JSON.stringify(problem), new Response(null, { status, headers: problemHeaders(status) }))
}

const unknownThing: Readonly<Record<string, { code: ErrorCode; name: string }>> = {
  run_id: { code: 'RUN_001', name: 'run' },
  operation_id: { code: 'RUN_004', name: 'operation' },
  node_id: { code: 'RUN_004', name: 'node' },
  request_id: { code: 'ASK_001', name: 'question' },
  ask_id: { code: 'ASK_001', name: 'ask' },
  seq: { code: 'RUN_004', name: 'decision' },
  token_id: { code: 'AUTH_003', name: 'token' },
  project_id: { code: 'PROJECT_001', name: 'project' },
  installation_id: { code: 'HOST_002', name: 'installation' },
}

/** An id that cannot be one is unknown; a query parameter or Last-Event-ID is RUN_002, another header or the body INTAKE_008. */
export const refuseInput: Hook<unknown, ApiEnv, string, void> = (result, context) => {
  if (result.success) return
  const { issues } = result.error
  if (result.target === 'param') {
    const at = String(issues[0]?.path[0])
    const { code, name } = unknownThing[at] ?? { code: 'HTTP_001' as const, name: at }
    throw new AppError(code, `There is no ${name} "${(context.req.param(at) ?? '').slice(0, 64)}".`)
  }
  const root = result.target === 'json' ? ['body'] : []
  const faults = issues.map((issue) => `${[...root, ...issue.path].join('.') || 'query'}: ${issue.message}`)
  const isFilter = result.target === 'query' || issues.some((issue) => issue.path[0] === 'last-event-id')
  throw new AppError(isFilter ? 'RUN_002' : 'INTAKE_008', faults.join('; ').slice(0, 2_000))
}

/** Headers that the route has set stay. */
export function securityHeaders(): MiddlewareHandler<ApiEnv> {
  const addUsual = secureHeaders({ overwrite: false })
  return (context, next) =>
    addUsual(context, async () => {
      await next()
      for (const [name, value] of Object.entries(safeHeaders)) {
        if (!context.res.headers.has(name)) context.header(name, value)
      }
    })
}
