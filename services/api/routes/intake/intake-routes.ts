import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { AppError } from '#domain/error.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { requestSpanId, type SpanRecorder } from '#domain/span.ts'
import { newTraceparent, parseTraceparent } from '#domain/traceparent.ts'
import type { MemoryGate } from '#store/ledger/memory-gate.ts'
import { openSemaphore } from '#platform/limit-concurrency.ts'
import type { Log } from '#platform/log.ts'
import type { NewRun } from '#store/ledger/run-commands.ts'
import { type ApiEnv, type Caller, loggedCaller } from '../../http/api-env.ts'
import { budgetView, findRun, runLinks } from '../runs/run-view.ts'
import { type AcceptDeps, acceptRun, type Correlation } from '#stages/intake/accept-run.ts'
import { intakeEndpoints } from './intake-endpoints.ts'
import { readRepositoryRun, type RepositoryRun, type RepositoryRunDeps } from '#stages/intake/repository-run.ts'
import { maxRequestBytes, type RunForm, withRunForm } from '#stages/intake/run-form.ts'
import { type RetryDeps, retryRun } from '#stages/intake/retry-run.ts'

/** Room for the request field and the multipart framing besides the archive. */
const framingBytes = maxRequestBytes + 64 * 1024

export type IntakeDeps = AcceptDeps &
  RetryDeps & {
    ledger: AcceptDeps['ledger'] &
      RetryDeps['ledger'] &
      Pick<Ledger, 'cancel' | 'isBeingDeleted' | 'requestDeletion' | 'setBudget'>
    memoryGate: MemoryGate
    uploadGate: UploadGate
    repositories: RepositoryRunDeps
    traces: SpanRecorder & { samples(): boolean }
    log: Pick<Log, 'info'>
  }

export function intakeRoutes(deps: IntakeDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(intakeEndpoints.submit, async (c) => {
    const { raw } = c.req
    refuseDeclaredSize(c.req.header('content-length'), deps.maxUploadBytes)
    await deps.memoryGate()
    const idempotencyKey = c.req.valid('header')['idempotency-key']
    const { projectId } = c.get('caller')
    const holder = holderOf(c.get('caller'))
    const isJson = /^application\/json *(?:;|$)/i.test(c.req.header('content-type') ?? '')
    const leave = isJson ? () => {} : await deps.uploadGate(raw.signal)
    try {
      const { runId, status } = await tracedRequest(c, deps.traces, async (correlation) => {
        const accept = (source: RunForm | RepositoryRun) =>
          acceptRun({ ...source, projectId, idempotencyKey, correlation, holder }, deps)
        return isJson ? accept(await readRepositoryRun(raw, projectId, deps.repositories)) : withRunForm(raw, accept)
      })
      return c.json({ run_id: runId, status, links: runLinks(runId) }, 202)
    } finally {
      leave()
    }
  })
  addSteering(routes, deps)
  addBudget(routes, deps)
  return routes
}

function addSteering(routes: OpenAPIHono<ApiEnv>, deps: IntakeDeps): void {
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
  routes.openapi(intakeEndpoints.delete, async (c) => {
    const { run_id: runId } = c.req.valid('param')
    const own = { projectId: c.get('caller').projectId, runId }
    if (!(await deps.ledger.isBeingDeleted(own))) {
      await findRun(runId, own.projectId, deps.ledger)
      await deps.ledger.requestDeletion(own)
    }
    return c.json({ run_id: runId, deleting: true } as const, 202)
  })
  routes.openapi(intakeEndpoints.retry, async (c) => {
    const { operations, codes, rejected, error_policy: errorPolicy } = c.req.valid('json')
    await deps.memoryGate()
    const idempotencyKey = c.req.valid('header')['idempotency-key']
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const holder = holderOf(c.get('caller'))
    const retry = { run, operations, codes, rejected, errorPolicy, idempotencyKey, holder }
    const { generation, status } = await retryRun({ ...retry, requestId: c.get('requestId') }, deps)
    return c.json({ run_id: run.runId, status, generation, links: runLinks(run.runId) }, 202)
  })
}

function addBudget(routes: OpenAPIHono<ApiEnv>, deps: IntakeDeps): void {
  routes.openapi(intakeEndpoints.budget, async (c) => {
    const { tokens } = c.req.valid('json')
    const { runId, projectId, budget } = await findRun(
      c.req.valid('param').run_id,
      c.get('caller').projectId,
      deps.ledger,
    )
    const origin = { kind: 'api', id: c.get('requestId') } as const
    if ((await deps.ledger.setBudget(runId, { tokens, origin })) === 'ended') {
      throw new AppError('RUN_007', `Run "${runId}" has ended, or is being stopped.`)
    }
    if (tokens !== budget) {
      const about = { run_id: runId, project_id: projectId, tokens, before: budget }
      deps.log.info('budget of a run set', { ...about, ...loggedCaller(c.get('caller')) })
    }
    return c.json(budgetView(await deps.ledger.getRun(runId)), 200)
  })
}

/** Undefined for a token that may have any number of runs. */
function holderOf({ tokenId, limits }: Caller): NewRun['holder'] {
  return typeof limits?.runs === 'number' ? { tokenId, runs: limits.runs } : undefined
}

function refuseDeclaredSize(contentLength: string | undefined, maxUploadBytes: number): void {
  if (Number(contentLength ?? 0) <= maxUploadBytes + framingBytes) return
  throw new AppError('INTAKE_003', `The upload is larger than ${maxUploadBytes} bytes.`)
}

/** Returns what gives the slot back. LIMIT_002 when none is free in time, INTAKE_001 when the client has closed the connection. */
type UploadGate = (closed: AbortSignal) => Promise<() => void>

/** Under the minute after which proxies give up on an answer. */
const defaultWaitMs = 50_000

/** Lets `atOnce` uploads through at a time, first come first served: each holds some parts of its archive in memory. */
export function openUploadGate(atOnce: number, waitMs = defaultWaitMs): UploadGate {
  const gate = openSemaphore(atOnce)
  const busy = `All upload slots (${atOnce}) are in use: try again in a few seconds.`
  return async (closed) => {
    const late = AbortSignal.timeout(waitMs)
    try {
      return await gate.acquire(AbortSignal.any([closed, late]))
    } catch (error) {
      if (closed.aborted) throw new AppError('INTAKE_001', 'The upload broke off.', { cause: error })
      throw new AppError('LIMIT_002', busy, { cause: error, detail: busy })
    }
  }
}

/** The run's trace is that of the caller's `traceparent`, or a new one. A request that is refused has no span. */
async function tracedRequest<Answer>(
  { req, get }: Context<ApiEnv>,
  traces: IntakeDeps['traces'],
  answer: (correlation: Correlation) => Promise<Answer>,
): Promise<Answer> {
  const startMs = Date.now()
  const caller = parseTraceparent(req.header('traceparent'))
  const traceparent = newTraceparent(caller, traces.samples())
  const answered = await answer({ requestId: get('requestId'), traceparent })
  const run = parseTraceparent(traceparent)
  if (run?.isSampled === true) {
    traces.record({
      traceId: run.traceId,
      spanId: requestSpanId(run),
      parentId: caller?.spanId,
      name: `${req.method} /v1/runs`,
      kind: 'server',
      startMs,
      endMs: Date.now(),
      attributes: { 'http.request.method': req.method, 'url.path': req.path },
    })
  }
  return answered
}
