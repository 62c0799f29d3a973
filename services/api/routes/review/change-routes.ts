import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { AskPatchDeps } from '#change-sets/ask-patch.ts'
import type { Verdict } from '#domain/decision.ts'
import { type ModelKind, requireSameModel } from '#domain/model-kind.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Decider } from '#store/ledger/decisions.ts'
import type { MemoryGate } from '#store/ledger/memory-gate.ts'
import { type StartWantedDeps, startWantedRetries } from '#stages/review/reopen-runs.ts'
import type { WantedRetry } from '#stages/review/rejected-work.ts'
import {
  askedOfEach,
  ChangeFilter,
  DecisionsBody,
  DecisionsView,
  type RejectedRetry,
  type WantedVerdict,
} from '#schemas/decision-schema.ts'
import type { ApiEnv, Caller } from '../../http/api-env.ts'
import type { GithubRouteDeps } from '../github/github-routes.ts'
import { findRun } from '../runs/run-view.ts'
import { decide, type Decided, type DecideDeps } from '#stages/review/decide.ts'
import { decisionsView } from './decisions-view.ts'
import type { JudgeOptions, WantedDecision } from '#stages/review/judge-decisions.ts'
import type { PublishableDeps } from '#stages/publish/read-publishable.ts'
import { addPatchRoutes } from './patch-routes.ts'
import { type ChangeDeps, changesOfOperation, changesOfSet, findChanges, listChanges } from './run-changes.ts'
import { OperationId } from '#domain/ids.ts'
import { usualContext } from '#platform/unified-diff.ts'
import { ChangePage } from '#schemas/change-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer, jsonBody } from '../../http/endpoint.ts'
import { Cursor, pageLimit, wholeNumber } from '../../http/schema-parts.ts'

const ChangesQuery = z.strictObject({
  operation_id: OperationId.optional().openapi({
    description: 'only those of the work of this operation, in all generations of the run',
  }),
  change_set_id: z.string().min(1).max(64).optional().openapi({
    description: 'only this one, instead of those of an operation',
  }),
  ...ChangeFilter.shape,
  context: wholeNumber(0, 100)
    .default(usualContext)
    .openapi({ default: usualContext, description: 'so many unchanged lines are around each change of a diff' }),
  cursor: Cursor,
  limit: pageLimit(100, 20),
})

const decideProse = `
Each decision is an event, and the last one counts; they can be made while the run is running and as long as it is kept. There is
one decision on a change set, also when it is made just so again in a later generation. A decision with \`where\` leaves alone what people have accepted or rejected before, and \`left_alone\` counts it, unless
\`also_decided\` is true. What can be decided is decided, and the rest is in
\`refused\`: RUN_004 for a set that the run has not, WORK_001 to accept what changes the same place as something accepted, or is built
on something rejected, and to reject or take back what others are built on (unless \`with_dependents\` is true), WORK_004
what breaks a file by itself or together with it, WORK_003 for a decision on what somebody else has decided since you looked (give the
\`version\` that you have seen). Where nothing of it can be decided, the answer is 409 (404 for RUN_004) with the first refusal's
code, and the problem has \`refused_count\` and \`refused\`: so it is with \`all_or_none\` where anything is refused. What a set is built on is accepted with it. The same decision again changes nothing, so a request can be repeated.

With \`retry\` beside \`reject\` and a reason, the agents try again what was rejected:
when the run has ended, or at once if it has, in one generation of it that begins by itself. Rejected while that one still runs: in another one after its end.
To accept it or to undo the decision before takes that back; a run that is cancelled is not retried. \`retry\` of the answer names the generation.
RUN_009 when the services here have another kind of model than the run was begun with.`

export const changeEndpoints = {
  list: endpoint('runs:read', ['RUN_004', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/changes',
    operationId: 'listChanges',
    summary: 'Its change sets, each with its diff and evidence, also those that were left out of the patch',
    description:
      'For reading: secrets in a diff are shown as `[secret]`, so that git does not apply it. The patch has the bytes.',
    request: { params: RunParams, query: ChangesQuery },
    responses: { 200: jsonAnswer('a page', ChangePage) },
  }),
  decide: endpoint(
    'runs:write',
    ['RUN_004', 'RUN_009', 'WORK_001', 'WORK_002', 'WORK_003', 'WORK_004', 'WORK_007', 'STORE_002', 'STORE_003'],
    {
      method: 'post',
      path: '/v1/runs/{run_id}/decisions',
      operationId: 'decideChanges',
      summary: 'Accept or reject change sets, or take that back',
      description: decideProse.trim(),
      request: {
        params: RunParams,
        body: { required: true, ...jsonBody(DecisionsBody) },
      },
      responses: { 200: jsonAnswer('what was decided', DecisionsView) },
    },
  ),
} as const

export type ChangeRouteDeps = ChangeDeps &
  DecideDeps &
  AskPatchDeps &
  PublishableDeps & {
    ledger: ChangeDeps['ledger'] & DecideDeps['ledger'] & AskPatchDeps['ledger'] & StartWantedDeps['ledger']
    producer: AskPatchDeps['producer'] & GithubRouteDeps['producer']
    modelKind?: ModelKind | undefined
    memoryGate: MemoryGate
  }

export function changeRoutes(deps: ChangeRouteDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(changeEndpoints.list, async (c) => {
    const { operation_id: operationId, change_set_id: changeSetId, ...page } = c.req.valid('query')
    const { cursor, limit, context, ...filter } = page
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    if (changeSetId !== undefined) {
      return c.json({ changes: await changesOfSet(run, { changeSetId, context }, deps), next: null }, 200)
    }
    if (operationId !== undefined) {
      return c.json({ changes: await changesOfOperation(run, { operationId, context }, deps), next: null }, 200)
    }
    return c.json(await listChanges(run, { cursor, limit, filter, context }, deps), 200)
  })
  routes.openapi(changeEndpoints.decide, async (c) => {
    await deps.memoryGate()
    const caller = c.get('caller')
    const run = await findRun(c.req.valid('param').run_id, caller.projectId, deps.ledger)
    const body = c.req.valid('json')
    const wanted = await wantedIn(body, run, deps)
    const options = { withDependents: body.with_dependents === true, allOrNone: body.all_or_none === true }
    return c.json(await decidedView(run, wanted, { caller, requestId: c.get('requestId'), options }, deps), 200)
  })
  addPatchRoutes(routes, deps)
  return routes
}

function deciderOf({ tokenId, name }: Caller): Decider {
  return { kind: 'human', id: tokenId, ...(name === undefined ? {} : { name }) }
}

const verdicts: Readonly<Record<WantedVerdict, Verdict>> = { accept: 'accepted', reject: 'rejected', undo: 'pending' }

async function wantedIn(body: DecisionsBody, run: Run, deps: ChangeDeps): Promise<WantedDecision[]> {
  if (body.where !== undefined) {
    const changes = await findChanges(run, body.where, deps)
    const isBulk = body.also_decided === true ? undefined : (true as const)
    return [...changes].flatMap(([change_set_id, version]) => wantedOf({ ...body, change_set_id, version, isBulk }))
  }
  return askedOfEach(body).flatMap(wantedOf)
}

type Given = Pick<DecisionsBody, 'verdict' | 'reason' | 'retry'> & {
  change_set_id: string
  version?: number | undefined
  isBulk?: true | undefined
}

function wantedOf({ change_set_id: changeSetId, verdict, reason, retry, version, isBulk }: Given): WantedDecision[] {
  if (verdict === undefined) return [] // the schema lets no such body in
  return [{ changeSetId, verdict: verdicts[verdict], reason: reason ?? null, version, isBulk, ...(retry && { retry }) }]
}

/** Decides, and has what is to be tried again started if its run has ended. RUN_009 where it could not be. */
async function decidedView(
  run: Run,
  wanted: readonly WantedDecision[],
  { caller, requestId, options }: { caller: Caller; requestId: string; options: JudgeOptions },
  deps: ChangeRouteDeps,
): Promise<DecisionsView> {
  const asksForRetry = wanted.some(({ retry }) => retry !== undefined)
  if (asksForRetry) requireSameModel({ runId: run.runId, labels: run.request.labels }, deps.modelKind)
  const decided = await decide(run, wanted, { by: deciderOf(caller), deps, ...options })
  // What is open at the code host follows what people say.
  if (run.publication !== null) {
    await deps.producer.add('publications', run.runId, { run_id: run.runId, traceparent: run.traceparent })
  }
  const view = decisionsView(run, decided)
  if (!asksForRetry) return view
  return { ...view, retry: await retryOfRejected(run, decided, { ...deps, origin: { kind: 'api', id: requestId } }) }
}

/** Reopens an ended run for what is to be tried again, and says how this request's part of it stands. Null where nothing is. */
async function retryOfRejected(
  { runId }: Run,
  { decisions }: Decided,
  deps: StartWantedDeps,
): Promise<RejectedRetry | null> {
  const { run, wanted } = await startWantedRetries(runId, deps)
  const own = wanted.filter(({ decision }) => decisions.has(decision.changeSetId))
  const operationsIn = (state: WantedRetry['state']) =>
    new Set(own.flatMap((change) => (change.state === state ? [change.decision.operationId] : []))).size
  const [waiting, started] = [operationsIn('waiting'), operationsIn('started')]
  if (waiting > 0) return { generation: null, operations: waiting }
  return started === 0 || isEnded(run.status) ? null : { generation: run.generation, operations: started }
}
