import { OpenAPIHono, z } from '@hono/zod-openapi'
import { AppError, hasCode } from '#domain/error.ts'
import type { SkippedFile } from '#domain/code-node.ts'
import type { UnreachableModel } from '#domain/model-health.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Composition } from '#store/objects/composition.ts'
import type { PlanSummary } from '#store/objects/plan-summary.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { untilAborted } from '#platform/clock.ts'
import type { PartState } from '#platform/readiness.ts'
import { commandOf, IdempotencyHeader } from '#stages/intake/idempotency.ts'
import { wantedByDecisions } from '#stages/review/rejected-work.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { ResultTaken } from '../../http/problem.ts'
import { Cursor, isoTime, pageLimit } from '../../http/schema-parts.ts'
import { addEventRoutes, type EventRouteDeps } from '../events/event-routes.ts'
import { addTimelineRoute, type TimelineRouteDeps } from '../events/timeline-routes.ts'
import { addFindingRoute, type FindingRouteDeps } from './finding-routes.ts'
import { addNodeRoutes, type NodeRouteDeps } from './node-routes.ts'
import { operationView } from './operation-view.ts'
import { addQuestionRoutes, type QuestionRouteDeps } from './question-routes.ts'
import { nothingMoves } from './live-view.ts'
import { countAcceptedLeftOut } from '#stages/review/proved-conflicts.ts'
import { findRun, type Lacking, planView, type RunDetails, runSummaryView, runView } from './run-view.ts'
import { OperationId, RunId } from '#domain/ids.ts'
import { OperationPage, OperationView } from '#schemas/operation-schema.ts'
import { PlanView } from '#schemas/plan-schema.ts'
import { OperationStatusShape, RunPage, RunParams, RunView } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

const resultProse = `
For programs that share the work on what runs come to. The first one that asks gets the run, with the same \`Idempotency-Key\` again and
again; any other RUN_010, with \`taken_by\` and \`taken_at\`. RUN_006 before the run has ended. A run that is retried has a new result. Nothing
else changes: everybody may still read the run until it is deleted, taken or not, \`events.retention_s\` after its end.`

export const runEndpoints = {
  list: endpoint('runs:read', [], {
    method: 'get',
    path: '/v1/runs',
    operationId: 'listRuns',
    summary: 'The runs of the project, newest first',
    request: {
      query: z.strictObject({
        before: RunId.optional().openapi({ description: '`next` of the page before' }),
        limit: pageLimit(100, 20),
        ended: z.literal('false').optional().openapi({ description: '`false`: only those that have not ended' }),
      }),
    },
    responses: { 200: jsonAnswer('a page', RunPage) },
  }),
  get: endpoint('runs:read', ['STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}',
    operationId: 'getRun',
    summary: 'The state of a run',
    request: { params: RunParams },
    responses: { 200: jsonAnswer('the run', RunView) },
  }),
  result: endpoint('runs:write', ['RUN_006', 'RUN_010', 'STORE_003'], {
    method: 'post',
    path: '/v1/runs/{run_id}/result',
    operationId: 'takeResult',
    summary: 'Take the result of a run, which one alone gets',
    description: resultProse.trim(),
    request: { params: RunParams, headers: IdempotencyHeader },
    responses: { 200: jsonAnswer('the run, as it has ended', RunView) },
  }),
  plan: endpoint('runs:read', ['RUN_004', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/plan',
    operationId: 'getRunPlan',
    summary: 'What its planning decided, and why it left out the rest; RUN_004 before it is planned',
    request: { params: RunParams },
    responses: { 200: jsonAnswer('the plan', PlanView) },
  }),
  operations: endpoint('runs:read', [], {
    method: 'get',
    path: '/v1/runs/{run_id}/operations',
    operationId: 'listOperations',
    summary: 'Its operations, in the order of the plan',
    request: {
      params: RunParams,
      query: z.strictObject({ status: OperationStatusShape.optional(), cursor: Cursor, limit: pageLimit(500, 100) }),
    },
    responses: { 200: jsonAnswer('a page', OperationPage) },
  }),
  operation: endpoint('runs:read', ['RUN_004'], {
    method: 'get',
    path: '/v1/runs/{run_id}/operations/{operation_id}',
    operationId: 'getOperation',
    summary: 'One operation with its node, attempt and outcome',
    request: { params: RunParams.extend({ operation_id: OperationId }) },
    responses: { 200: jsonAnswer('the operation', OperationView) },
  }),
} as const

export type RunRecords = {
  readComposition(run: Run, key?: string): Promise<Composition | null>
  /** RUN_004 before the run is planned. */
  readPlan(run: Run): Promise<PlanSummary>
  /** The files of its archive that were skipped, sorted by path; none before there is a snapshot. */
  readSkipped(run: Run): Promise<SkippedFile[]>
}

export type RunRouteDeps = EventRouteDeps &
  FindingRouteDeps &
  NodeRouteDeps &
  QuestionRouteDeps & {
    ledger: Pick<Ledger, 'countFailures' | 'countVerdicts' | 'getOperation' | 'getRun' | 'lastDecision'> &
      Pick<Ledger, 'listOperations' | 'listRuns' | 'mayWantRetry' | 'readDecisions' | 'readLive' | 'takeResult'> &
      Pick<Ledger, 'readAgenda'> &
      TimelineRouteDeps['ledger']
    records: RunRecords
    /** The models that no live worker can use. */
    readAway(): Promise<readonly UnreachableModel[]>
    /** The object store, as this process and the live workers find it. */
    readStore(): Promise<PartState>
  }

/** A run is looked at just when its stores are in trouble: its state, which is in Redis, does not wait for the object store. */
const mostWaitMs = 3_000

/** Returns what `read` brings, or undefined when the object store is away or takes too long. */
async function unlessAway<T>(read: Promise<T>): Promise<T | undefined> {
  const limit = AbortSignal.timeout(mostWaitMs)
  try {
    return await untilAborted(read, limit)
  } catch (error) {
    if (limit.aborted || hasCode(error, 'STORE_002')) return undefined
    throw error
  }
}

/** Counts the operations that are tried again by themselves when the run has ended. */
async function countWanted(
  run: Run,
  decided: () => Promise<Decisions>,
  ledger: RunRouteDeps['ledger'],
): Promise<number> {
  if (!(await ledger.mayWantRetry(run.runId))) return 0
  const all = await wantedByDecisions(run, await decided(), ledger)
  return new Set(all.flatMap(({ state, decision }) => (state === 'waiting' ? [decision.operationId] : []))).size
}

/** The same each time: what is counted by decisions is kept by them. */
const none: Decisions = { last: 0, byChangeSet: new Map(), forged: [] }
/** Suffices for the runs that programs ask for every second. */
const rememberedDecisions = 8

function openDetails({ ledger, records }: Pick<RunRouteDeps, 'ledger' | 'records'>) {
  const decided = openCachedAnswers<Decisions>({ max: rememberedDecisions })
  return async (run: Run): Promise<Omit<RunDetails, 'away'>> => {
    const { runId } = run
    const last = await ledger.lastDecision(runId)
    const read = () => ledger.readDecisions(runId)
    const decisionsOf = async () => (last === 0 ? none : decided.get(`${runId} ${last}`, read))
    const [live, composition, skipped, failures, retryWanted, agenda] = await Promise.all([
      isEnded(run.status) ? nothingMoves : ledger.readLive(runId, mostActive),
      unlessAway(records.readComposition(run)),
      unlessAway(records.readSkipped(run)),
      ledger.countFailures(runId),
      countWanted(run, decisionsOf, ledger),
      run.request.objective === undefined ? undefined : ledger.readAgenda(runId),
    ])
    const decisions = composition ? await decisionsOf() : none
    const verdicts = composition ? new Map() : await ledger.countVerdicts(runId)
    const acceptedLeftOut = await unlessAway(countAcceptedLeftOut(run, composition, { records, read: decisionsOf }))
    const answer = agenda?.state.answer
    return { live, composition, skipped, failures, verdicts, decisions, retryWanted, answer, acceptedLeftOut }
  }
}

/** How many active operations the state of a run lists. */
const mostActive = 100
export function runRoutes(deps: RunRouteDeps): OpenAPIHono<ApiEnv> {
  const { ledger } = deps
  /** Asked only for the sake of a run that may wait. */
  const lackingFor = async (runs: readonly Run[]): Promise<Lacking> => ({
    away: runs.some((run) => run.away.length > 0) ? await deps.readAway() : [],
    store: runs.some((run) => !isEnded(run.status)) ? await deps.readStore() : undefined,
  })
  const readDetails = openDetails(deps)
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(runEndpoints.list, async (c) => {
    const { before, limit, ended } = c.req.valid('query')
    const page = { ...(before === undefined ? {} : { before }), limit, isUnended: ended === 'false' }
    const { runs, next } = await ledger.listRuns(c.get('caller').projectId, page)
    const lacking = await lackingFor(runs)
    return c.json({ runs: runs.map((run) => runSummaryView(run, lacking)), next }, 200)
  })
  const viewWhole = async (run: Run) => {
    const [details, lacking] = await Promise.all([readDetails(run), lackingFor([run])])
    return runView(run, { ...details, ...lacking })
  }
  routes.openapi(runEndpoints.get, async (c) => {
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, ledger)
    return c.json(await viewWhole(run), 200)
  })
  routes.openapi(runEndpoints.result, async (c) => {
    const { projectId, tokenId } = c.get('caller')
    const { runId } = await findRun(c.req.valid('param').run_id, projectId, ledger)
    const command = commandOf(c.req.valid('header')['idempotency-key'])
    const taken = await ledger.takeResult(runId, { command, by: tokenId })
    if (taken.kind === 'consumed') throw new ResultTaken(runId, taken.by, isoTime(taken.at))
    const run = await ledger.getRun(runId) // which may have been reopened since
    if (taken.kind === 'open' || !isEnded(run.status)) throw new AppError('RUN_006', `Run "${runId}" has not ended.`)
    return c.json(await viewWhole(run), 200)
  })
  routes.openapi(runEndpoints.plan, async (c) => {
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, ledger)
    return c.json(planView(await deps.records.readPlan(run)), 200)
  })
  addOperationRoutes(routes, ledger)
  addNodeRoutes(routes, deps)
  addFindingRoute(routes, deps)
  addQuestionRoutes(routes, deps)
  addEventRoutes(routes, deps)
  addTimelineRoute(routes, deps)
  return routes
}

function addOperationRoutes(routes: OpenAPIHono<ApiEnv>, ledger: RunRouteDeps['ledger']): void {
  routes.openapi(runEndpoints.operations, async (c) => {
    const { status, cursor, limit } = c.req.valid('query')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, ledger)
    const filters = { ...(status && { status }), ...(cursor !== undefined && { cursor }) }
    const { operations, next } = await ledger.listOperations(run.runId, { ...filters, limit })
    return c.json({ operations: operations.map(operationView), next }, 200)
  })
  routes.openapi(runEndpoints.operation, async (c) => {
    const { run_id: runId, operation_id: operationId } = c.req.valid('param')
    const run = await findRun(runId, c.get('caller').projectId, ledger)
    return c.json(operationView(await ledger.getOperation(run.runId, operationId)), 200)
  })
}
