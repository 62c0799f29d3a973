import { Redis } from 'ioredis'
import {
  defaultProject,
  newRunId,
  newToken,
  nodeId,
  type OperationId,
  operationId,
  recordId,
  type RunId,
} from '#domain/ids.ts'
import {
  changeSetIdsOf,
  type OperationCost,
  type Outcome,
  type PlannedOperation,
  type RepeatedWork,
} from '#domain/operation.ts'
import { type EndedRunStatus, type Run, RunRequest } from '#domain/run.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import { type Ledger, openLedger } from '#store/ledger/ledger.ts'
import type { NewRun } from '#store/ledger/run-commands.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { anEvent } from './an-event.ts'
import { testRedis } from './redis.ts'

export type TestLedger = Awaited<ReturnType<typeof testLedger>>

/** A ledger on real Redis under keys of its own. */
export async function testLedger() {
  const server = await testRedis()
  const redis = new Redis(server.url)
  const { namespace } = server
  const ledger = openLedger(redis, { namespace })
  return {
    ledger,
    redis,
    redisUrl: server.url,
    namespace,
    /** The same ledger with another lease time. */
    withLease: (leaseMs: number) => openLedger(redis, { namespace, leaseMs }),
    executing: (operations: readonly PlannedOperation[], request?: Partial<RunRequest>, traceparent?: string) =>
      executing(ledger, operations, request, traceparent),
    /** Dispatches everything that is ready and claims it. */
    claimReady: (runId: RunId) => claimReady(ledger, runId),
    settleAll: (runId: RunId) => settleAll(ledger, runId),
    /** Ends the run, whose operations have ended, and has it do these works once more, as a planner plans them. */
    reopened: (runId: RunId, operations: readonly PlannedOperation[], end?: EndedRunStatus) =>
      reopened(ledger, runId, operations, end),
    /** Has a run in review do the works once more since they collided. */
    repeated: (runId: RunId, operations: readonly PlannedOperation[], over?: Partial<PlannedOperation>) =>
      repeated(ledger, runId, operations, over),
    async close() {
      await redis.quit()
      await server.close()
    },
  }
}

export { anEvent } from './an-event.ts'

const testOrigin = { kind: 'discovery', id: 'test' } as const

/** A running run of these operations, planned in one slice and executing. */
export async function executing(
  ledger: Ledger,
  operations: readonly PlannedOperation[],
  request: Partial<RunRequest> = {},
  traceparent: string | null = null,
): Promise<RunId> {
  const run = aNewRun({ request: aRequest(request), traceparent })
  const { runId } = run
  await ledger.createRun(run)
  await ledger.move(runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'planning' },
    command: 'start',
    set: { snapshotId: 's1' },
    events: [anEvent({ event: 'run.started', phase: 'planning', origin: { kind: 'discovery', id: 'test' } })],
  })
  await ledger.plan(runId, { slice: 0, operations, last: true })
  await ledger.move(runId, {
    from: [{ status: 'running', phase: 'planning' }],
    to: { phase: 'execution' },
    command: 'planned',
    events: [anEvent({ event: 'run.planned', phase: 'planning', origin: { kind: 'discovery', id: 'test' } })],
  })
  return runId
}

/** Dispatches everything that is ready and claims it. */
export async function claimReady(ledger: Ledger, runId: RunId): Promise<Attempt[]> {
  const { taken } = await ledger.dispatch(runId, 1_000)
  const answers = await Promise.all(taken.map((job) => ledger.claim({ runId, ...job }, newToken())))
  return answers.flatMap((answer) => (answer.kind === 'claimed' ? [answer.attempt] : []))
}

/** Returns the operation as the next record of its work: the last one's sets are replaced. */
export async function nextRecord(
  ledger: Pick<Ledger, 'getOperation'>,
  { runId, generation }: Pick<Run, 'runId' | 'generation'>,
  { operationId: original, ...planned }: PlannedOperation,
  because: RepeatedWork['because'],
): Promise<PlannedOperation> {
  const changeSetIds: string[] = []
  let supersedes = original
  for (let id: OperationId | null = original; id !== null;) {
    const { outcome, supersededBy } = await ledger.getOperation(runId, id)
    supersedes = id
    changeSetIds.push(...(outcome === null ? [] : changeSetIdsOf(outcome)))
    id = supersededBy
  }
  const repeats = { operationId: original, supersedes, because, changeSetIds }
  return { ...planned, operationId: recordId(original, generation), after: [], repeats }
}

async function repeated(
  ledger: Ledger,
  runId: RunId,
  works: readonly PlannedOperation[],
  over: Partial<PlannedOperation> = {},
): Promise<PlannedOperation[]> {
  await ledger.dispatch(runId, 1) // finds that all have ended
  const { generation } = await ledger.getRun(runId)
  const of = { runId, generation: generation + 1 }
  const records = await Promise.all(works.map((one) => nextRecord(ledger, of, one, 'collided')))
  const operations = records.map((one) => ({ ...one, ...over }))
  const event = anEvent({ event: 'operations.repeated', phase: 'review' })
  const answer = await ledger.planAgain(runId, { operations, event, generation })
  if (answer !== 'planned') throw new Error(`run ${runId} does nothing once more: ${answer}`)
  return operations
}

/** Ends a run whose operations have ended. */
export async function endRun(ledger: Ledger, runId: RunId, status: EndedRunStatus = 'completed'): Promise<void> {
  await ledger.relayResults(runId)
  const events = [anEvent({ event: `run.${status}`, phase: 'review' })]
  const from = [{ status: 'running' }, { status: 'queued' }] as const
  await ledger.move(runId, { from, to: { status }, command: 'stop', events })
}

async function reopened(
  ledger: Ledger,
  runId: RunId,
  works: readonly PlannedOperation[],
  end: EndedRunStatus = 'completed',
): Promise<PlannedOperation[]> {
  await ledger.dispatch(runId, 1)
  await endRun(ledger, runId, end)
  const wanted = { operations: works.map((one) => one.operationId) }
  await ledger.reopen(await ledger.getRun(runId), { wanted, origin: testOrigin, command: newToken() })
  return planReopened(ledger, runId, works)
}

/** Plans these works of a reopened run, which then executes. */
export async function planReopened(
  ledger: Ledger,
  runId: RunId,
  works: readonly PlannedOperation[],
): Promise<PlannedOperation[]> {
  const run = await ledger.getRun(runId)
  const { generation } = run
  const operations = await Promise.all(works.map((one) => nextRecord(ledger, run, one, 'asked')))
  await ledger.plan(runId, { slice: 0, operations, last: true, generation })
  await ledger.move(runId, {
    from: [{ status: 'running', phase: 'discovery' }, { status: 'queued' }],
    to: { status: 'running', phase: 'execution' },
    command: 'planned',
    events: [anEvent({ event: 'run.planned', phase: 'planning', origin: testOrigin })],
  })
  return operations
}

/** Ends every operation of the run with success; none of them may be running. */
export async function settleAll(ledger: Ledger, runId: RunId): Promise<void> {
  for (;;) {
    const attempts = await claimReady(ledger, runId)
    if (attempts.length === 0) return
    for (const attempt of attempts) await ledger.settle(attempt, 1, { outcome: anOutcome(), events: [] })
  }
}

/** A function node; nodes with different names have different ids. */
function aNode(name = 'greet', over: Partial<CodeNode> = {}): CodeNode {
  const path = over.path ?? 'src/app.py'
  const kind = over.kind ?? 'function'
  return {
    nodeId: nodeId({ path, kind, qualifiedName: name, ordinal: 0 }),
    kind,
    name,
    qualifiedName: name,
    path,
    language: 'python',
    startLine: 1,
    endLine: 2,
    startByte: 0,
    endByte: 40,
    parentId: null,
    hash: 'a'.repeat(64),
    ...over,
  }
}

/** A planned operation of the bundle `lint` on `aNode(name)`, waiting for the named nodes' operations of `after`. */
export function aPlannedOperation(
  name: string,
  over: Partial<PlannedOperation> = {},
  after: readonly PlannedOperation[] = [],
): PlannedOperation {
  const node = over.node ?? aNode(name)
  const bundle = over.bundle ?? 'lint'
  return {
    operationId: operationId(node.nodeId, bundle),
    bundle,
    bundleHash: 'b'.repeat(64),
    node,
    work: 'agent',
    priority: 10,
    after: after.map((other) => other.operationId),
    ...over,
  }
}

export function aRequest(over: Partial<RunRequest> = {}): RunRequest {
  return { ...RunRequest.parse({ agents: ['lint'] }), ...over }
}

/** The arguments that create a run, with a new id, so that tests do not affect each other. */
export function aNewRun(over: Partial<NewRun> = {}): NewRun {
  const runId = over.runId ?? newRunId(Date.now())
  const projectId = over.projectId ?? defaultProject
  return {
    runId,
    projectId,
    request: aRequest(),
    uploadKey: `projects/${projectId}/uploads/${runId}`,
    traceparent: null,
    acceptedEvent: anEvent({ event: 'run.accepted', phase: 'snapshot', origin: { kind: 'api', id: 'test' } }),
    ...over,
  }
}

export const aCost: OperationCost = { turns: 1, promptTokens: 10, completionTokens: 5, durationMs: 12 }

export function anOutcome(over: Partial<Outcome> = {}): Outcome {
  return { status: 'succeeded', summary: 'done', changedFiles: [], ...aCost, ...over }
}
