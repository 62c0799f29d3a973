import { OpenAPIHono } from '@hono/zod-openapi'
import type { AskPatchDeps } from '#change-sets/ask-patch.ts'
import type { Verdict } from '#domain/decision.ts'
import { type ModelKind, requireSameModel } from '#domain/model-kind.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Decider } from '#store/ledger/decisions.ts'
import type { MemoryGate } from '#store/ledger/memory-gate.ts'
import { startWantedRetries, type StartWantedDeps } from '#stages/review/reopen-runs.ts'
import type { WantedRetry } from '#stages/review/rejected-work.ts'
import {
  askedOfEach,
  type DecisionsBody,
  type DecisionsView,
  type RejectedRetry,
  type WantedVerdict,
} from '#schemas/decision-schema.ts'
import type { ApiEnv, Caller } from '../../http/api-env.ts'
import type { GithubRouteDeps } from '../github/github-routes.ts'
import { findRun } from '../runs/run-view.ts'
import { changeEndpoints } from './change-endpoints.ts'
import { decide, type DecideDeps, type Decided } from '#stages/review/decide.ts'
import { decisionsView } from './decisions-view.ts'
import type { JudgeOptions, WantedDecision } from '#stages/review/judge-decisions.ts'
import type { PublishableDeps } from '#stages/publish/read-publishable.ts'
import { addPatchRoutes } from './patch-routes.ts'
import { type ChangeDeps, changesOfOperation, changesOfSet, findChanges, listChanges } from './run-changes.ts'

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
