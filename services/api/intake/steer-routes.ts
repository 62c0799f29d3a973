import { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { OperationId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { ErrorPolicyName } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { MemoryGate } from '#ledger/memory-gate.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { findRun } from '../runs/find-run.ts'
import { runLinks } from '../runs/run-view.ts'
import { parseIdempotencyKey } from './idempotency.ts'
import { retryRun, type RetryDeps } from './retry-run.ts'

export type SteerDeps = RetryDeps & {
  ledger: RetryDeps['ledger'] & Pick<Ledger, 'cancel' | 'getRun'>
  memoryGate: MemoryGate
}

const maxBodyBytes = 64 * 1024
const CancelBody = z.strictObject({ reason: z.string().min(1).max(500).default('cancelled by its user') })
const RetryBody = z.strictObject({
  operations: z.array(OperationId).min(1).max(1000).optional(),
  error_policy: ErrorPolicyName.optional(),
})

/** What is asked of a run that is there: to stop, or to try again. */
export function steerRoutes(deps: SteerDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>()
  routes.post('/:run_id/cancel', async (c) => {
    const { reason } = await readBody(c.req.raw, CancelBody)
    const run = await findRun(c.req.param('run_id'), c.get('projectId'), deps.ledger)
    const answer = await deps.ledger.cancel(run.runId, { reason, origin: { kind: 'api', id: c.get('requestId') } })
    const { status } = await deps.ledger.getRun(run.runId)
    if (answer === 'ended' && status !== 'cancelled') {
      throw new AppError('RUN_007', `Run "${run.runId}" has ended: it is ${status}.`)
    }
    return c.json({ run_id: run.runId, status, cancel_requested: true, links: runLinks(run.runId) }, 202)
  })
  routes.post('/:run_id/retry', async (c) => {
    const { operations, error_policy: errorPolicy } = await readBody(c.req.raw, RetryBody)
    await deps.memoryGate()
    const idempotencyKey = parseIdempotencyKey(c.req.header('idempotency-key'))
    const run = await findRun(c.req.param('run_id'), c.get('projectId'), deps.ledger)
    const correlation = { requestId: c.get('requestId'), traceparent: null }
    const { runId, status } = await retryRun({ run, operations, errorPolicy, idempotencyKey, correlation }, deps)
    return c.json({ run_id: runId, status, retry_of: run.runId, links: runLinks(runId) }, 202)
  })
  return routes
}

/** The JSON body, or what stands for none. INTAKE_008 for one that does not fit, INTAKE_003 for one that is too long. */
async function readBody<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of request.body ?? []) {
    bytes += part.byteLength
    if (bytes > maxBodyBytes) throw new AppError('INTAKE_003', `The body is longer than ${maxBodyBytes} bytes.`)
    parts.push(part)
  }
  const text = Buffer.concat(parts).toString()
  const document = text.trim() === '' ? {} : parseJson(text)
  if (document === undefined) throw new AppError('INTAKE_008', 'The body is not JSON.')
  const parsed = schema.safeParse(document)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => `${['body', ...issue.path].join('.')}: ${issue.message}`)
  throw new AppError('INTAKE_008', faults.join('; '))
}
