import type { Context } from 'hono'
import { AppError, asAppError, errorPolicies } from '#domain/error.ts'
import type { Log } from '#platform/log.ts'
import type { ApiEnv } from './api-env.ts'

/** RFC 9457, with our code beside it. `error_code` is missing only for what has no code: an unknown route, a bug. */
export type Problem = {
  type: string
  title: string
  status: number
  detail: string
  error_code?: string
  run_id?: string
}

const networkCodes = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH']

/**
 * The answer to a failed request. An AppError speaks for itself; what fails while Redis is away is STORE_001; anything
 * else is a bug: 500 without its message, which goes to the log under the request's id.
 */
export function problemHandler(deps: { log: Log; isRedisReady(): boolean }) {
  return (error: unknown, context: Context<ApiEnv>): Response => {
    const known = knownError(error, deps.isRedisReady())
    const problem = known === undefined ? bugProblem(context.get('requestId')) : appProblem(known, context)
    if (problem.status >= 500) {
      deps.log.error('request failed', {
        requestId: context.get('requestId'),
        method: context.req.method,
        path: context.req.path,
        error,
      })
    }
    return problemResponse(problem, context)
  }
}

export function unknownRoute(context: Context<ApiEnv>): Response {
  const detail = `There is no ${context.req.method} ${context.req.path}.`
  return problemResponse({ type: 'about:blank', title: 'not found', status: 404, detail }, context)
}

function knownError(error: unknown, redisReady: boolean): AppError | undefined {
  if (error instanceof AppError) return error
  return !redisReady || isRedisAway(error) ? asAppError(error, 'STORE_001') : undefined
}

function isRedisAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'MaxRetriesPerRequestError') return true
  return 'code' in error && networkCodes.some((code) => code === error.code)
}

function appProblem(error: AppError, context: Context<ApiEnv>): Problem {
  const { meaning } = errorPolicies[error.code]
  const runId = context.req.param('run_id')
  return {
    type: `urn:remora:error:${error.code}`,
    title: meaning,
    status: error.status,
    // What the system says of its own faults may name hosts and files: that is for the log.
    detail: error.detail ?? (error.status >= 500 ? `${meaning}; request ${context.get('requestId')}` : error.message),
    error_code: error.code,
    ...(runId === undefined ? {} : { run_id: runId }),
  }
}

function bugProblem(requestId: string): Problem {
  return {
    type: 'about:blank',
    title: 'internal error',
    status: 500,
    detail: `Unexpected error; request ${requestId}.`,
  }
}

function problemResponse(problem: Problem, context: Context<ApiEnv>): Response {
  const requestId = context.get('requestId') ?? ''
  const headers = new Headers({ 'content-type': 'application/problem+json', 'x-request-id': requestId })
  if (problem.status === 401) headers.set('www-authenticate', 'Bearer realm="remora"')
  if (problem.status === 503) headers.set('retry-after', '5')
  return new Response(JSON.stringify(problem), { status: problem.status, headers })
}
