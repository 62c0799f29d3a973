import { Redis } from 'ioredis'
import { newToken, type RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { RunRequest } from '#domain/run.ts'
import type { Attempt } from '#ledger/claim.ts'
import { openLedger, type Ledger } from '#ledger/ledger.ts'
import { anOutcome, aNewRun, aRequest } from './factories.ts'
import { testRedis } from './redis.ts'

export type TestLedger = {
  ledger: Ledger
  redis: Redis
  redisUrl: string
  namespace: string
  /** The same ledger with leases of another length. */
  withLease(leaseMs: number): Ledger
  /** A running run of these operations, planned in one slice and executing. */
  executing(operations: readonly PlannedOperation[], request?: Partial<RunRequest>): Promise<RunId>
  /** Ends every operation of the run well, as a run must have them to end itself. */
  settleAll(runId: RunId): Promise<void>
  /** Dispatches everything that is ready and claims it. */
  claimReady(runId: RunId): Promise<Attempt[]>
  close(): Promise<void>
}

/** A ledger on real Redis under keys of its own. */
export async function testLedger(): Promise<TestLedger> {
  const server = await testRedis()
  const redis = new Redis(server.url)
  const { namespace } = server
  const ledger = openLedger(redis, { namespace })
  return {
    ledger,
    redis,
    redisUrl: server.url,
    namespace,
    withLease: (leaseMs) => openLedger(redis, { namespace, leaseMs }),
    executing: (operations, request) => executing(ledger, operations, request),
    claimReady: (runId) => claimReady(ledger, runId),
    settleAll: (runId) => settleAll(ledger, runId),
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
): Promise<RunId> {
  const run = aNewRun({ request: aRequest(request) })
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

async function claimReady(ledger: Ledger, runId: RunId): Promise<Attempt[]> {
  const { taken } = await ledger.dispatch(runId, 1_000)
  const answers = await Promise.all(taken.map((job) => ledger.claim({ runId, ...job }, newToken())))
  return answers.flatMap((answer) => (answer.kind === 'claimed' ? [answer.attempt] : []))
}

/** Ends every operation of the run well; none of them may be under way. */
export async function settleAll(ledger: Ledger, runId: RunId): Promise<void> {
  for (;;) {
    const attempts = await claimReady(ledger, runId)
    if (attempts.length === 0) return
    for (const attempt of attempts) await ledger.settle(attempt, 1, { outcome: anOutcome(), events: [] })
  }
}
