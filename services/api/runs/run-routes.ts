import { Hono } from 'hono'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { OperationId, RunId } from '#domain/ids.ts'
import { OperationStatus, type Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Composition } from '#objects/composition.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { Cursor, pageLimit, readQuery } from '../http/query.ts'
import { eventRoutes, type EventRouteDeps } from './event-routes.ts'
import { findRun } from './find-run.ts'
import { operationView } from './operation-view.ts'
import { runSummaryView, runView } from './run-view.ts'

export type RunRecords = {
  readComposition(run: Run): Promise<Composition | null>
  /** What of its archive was passed over, sorted by path; none before there is a snapshot. */
  readSkipped(run: Run): Promise<SkippedFile[]>
}

export type RunRouteDeps = EventRouteDeps & {
  ledger: Pick<Ledger, 'getRun' | 'listRuns' | 'getOperation' | 'listOperations' | 'readEvents'>
  records: RunRecords
}

const maxFailures = 100
const listQuery = { before: RunId.optional(), limit: pageLimit(100, 20) }
const operationsQuery = { status: OperationStatus.optional(), cursor: Cursor, limit: pageLimit(500, 100) }

/** Reading a run: its state, its operations and its events. */
export function runRoutes(deps: RunRouteDeps): Hono<ApiEnv> {
  const { ledger } = deps
  const routes = new Hono<ApiEnv>()
  routes.get('/', async (c) => {
    const { before, limit } = readQuery(listQuery, c)
    const page = { ...(before === undefined ? {} : { before }), limit }
    const { runs, next } = await ledger.listRuns(c.get('projectId'), page)
    return c.json({ runs: runs.map(runSummaryView), next })
  })
  routes.get('/:run_id', async (c) => {
    const run = await findRun(c.req.param('run_id'), c.get('projectId'), ledger)
    const [composition, skipped, failed] = await Promise.all([
      deps.records.readComposition(run),
      deps.records.readSkipped(run),
      firstFailed(run, ledger),
    ])
    return c.json(runView(run, { composition, skipped, failed }))
  })
  routes.get('/:run_id/operations', async (c) => {
    const { status, cursor, limit } = readQuery(operationsQuery, c)
    const run = await findRun(c.req.param('run_id'), c.get('projectId'), ledger)
    const filters = { ...(status === undefined ? {} : { status }), ...(cursor === undefined ? {} : { cursor }) }
    const { operations, next } = await ledger.listOperations(run.runId, { ...filters, limit })
    return c.json({ operations: operations.map(operationView), next })
  })
  routes.get('/:run_id/operations/:operation_id', async (c) => {
    const run = await findRun(c.req.param('run_id'), c.get('projectId'), ledger)
    const operationId = OperationId.safeParse(c.req.param('operation_id'))
    if (!operationId.success) throw new AppError('RUN_004', 'There is no such operation.')
    return c.json(operationView(await ledger.getOperation(run.runId, operationId.data)))
  })
  routes.route('/', eventRoutes(deps))
  return routes
}

async function firstFailed(run: Run, ledger: RunRouteDeps['ledger']): Promise<Operation[]> {
  const failed: Operation[] = []
  for (const status of ['failed', 'blocked'] as const) {
    const limit = maxFailures - failed.length
    if (limit === 0 || (run.counts[status] ?? 0) === 0) continue
    failed.push(...(await ledger.listOperations(run.runId, { status, limit })).operations)
  }
  return failed
}
