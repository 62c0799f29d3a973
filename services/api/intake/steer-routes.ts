import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { MemoryGate } from '#ledger/memory-gate.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { findRun } from '../runs/find-run.ts'
import { runLinks } from '../runs/run-view.ts'
import { intakeEndpoints } from './intake-endpoints.ts'
import { retryRun, type RetryDeps } from './retry-run.ts'

export type SteerDeps = RetryDeps & {
  ledger: RetryDeps['ledger'] & Pick<Ledger, 'cancel' | 'getRun'>
  memoryGate: MemoryGate
}

/** What is asked of a run that is there: to stop, or to try again. */
export function steerRoutes(deps: SteerDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(intakeEndpoints.cancel, async (c) => {
    const { reason } = c.req.valid('json')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const answer = await deps.ledger.cancel(run.runId, { reason, origin: { kind: 'api', id: c.get('requestId') } })
    const { status } = await deps.ledger.getRun(run.runId)
    if (answer === 'ended' && status !== 'cancelled') {
      throw new AppError('RUN_007', `Run "${run.runId}" has ended: it is ${status}.`)
    }
    return c.json({ run_id: run.runId, status, cancel_requested: true, links: runLinks(run.runId) } as const, 202)
  })
  routes.openapi(intakeEndpoints.retry, async (c) => {
    const { operations, error_policy: errorPolicy } = c.req.valid('json')
    await deps.memoryGate()
    const idempotencyKey = c.req.valid('header')['idempotency-key']
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const correlation = { requestId: c.get('requestId'), traceparent: null }
    const { runId, status } = await retryRun({ run, operations, errorPolicy, idempotencyKey, correlation }, deps)
    return c.json({ run_id: runId, status, retry_of: run.runId, links: runLinks(runId) }, 202)
  })
  return routes
}
