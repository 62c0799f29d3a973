import { Redis } from 'ioredis'
import { defaultProject, newRunId, newToken, nodeId, operationId, type RunId } from '#domain/ids.ts'
import type { OperationCost, Outcome, PlannedOperation } from '#domain/operation.ts'
import { RunRequest } from '#domain/run.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import { type Ledger, openLedger } from '#store/ledger/ledger.ts'
import type { NewRun } from '#store/ledger/run-commands.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { NewEvent } from '#domain/event.ts'
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
    async close() {
      await redis.quit()
      await server.close()
    },
  }
}

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
    events: [{ event: 'run.started', phase: 'planning', origin: { kind: 'discovery', id: 'test' }, data: {} }],
  })
  await ledger.plan(runId, { slice: 0, operations, last: true })
  await ledger.move(runId, {
    from: [{ status: 'running', phase: 'planning' }],
    to: { phase: 'execution' },
    command: 'planned',
    events: [{ event: 'run.planned', phase: 'planning', origin: { kind: 'discovery', id: 'test' }, data: {} }],
  })
  return runId
}

/** Dispatches everything that is ready and claims it. */
export async function claimReady(ledger: Ledger, runId: RunId): Promise<Attempt[]> {
  const { taken } = await ledger.dispatch(runId, 1_000)
  const answers = await Promise.all(taken.map((job) => ledger.claim({ runId, ...job }, newToken())))
  return answers.flatMap((answer) => (answer.kind === 'claimed' ? [answer.attempt] : []))
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

export function anEvent(over: Partial<NewEvent> = {}): NewEvent {
  return { event: 'turn.finished', phase: 'model', origin: { kind: 'worker', id: 'test' }, data: {}, ...over }
}

export const aCost: OperationCost = { turns: 1, promptTokens: 10, completionTokens: 5, durationMs: 12 }

export function anOutcome(over: Partial<Outcome> = {}): Outcome {
  return { status: 'succeeded', summary: 'done', changedFiles: [], ...aCost, ...over }
}
