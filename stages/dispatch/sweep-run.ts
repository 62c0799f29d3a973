import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { operationJobId } from '#store/queues/catalog.ts'
import type { Producer } from '#store/queues/producer.ts'
import { type DispatchState, enqueue, firstPriority } from './enqueue-ready.ts'

export type SweepDeps = {
  ledger: Pick<Ledger, 'dispatchedLongAgo' | 'requeue' | 'sweep'>
  producer: Pick<Producer, 'addMany' | 'discard' | 'missing'>
}

const everyMs = 1_000
/** A dispatch is older than this before its job is looked for: another dispatcher may be about to add it. */
const jobDueMs = 5_000
const slicePerSweep = 500

/**
 * Once a second, recovers the lost operations of a run, and ends those whose question was not answered in time. Lost are those
 * whose worker fell silent, and dispatched ones without a job in the queue. The first time, every dispatched one is looked for:
 * a dispatcher that died had not added its last jobs.
 */
export async function sweepRun(run: Run, state: DispatchState, { ledger, producer }: SweepDeps): Promise<void> {
  const { sweepAt } = state
  if (sweepAt !== undefined && performance.now() < sweepAt) return
  const { runId, counts } = run
  if (counts.running + counts.pending + counts.waiting > 0) while ((await ledger.sweep(runId)).left > 0);
  if (counts.dispatched > 0 && run.stop === null) {
    const agedMs = sweepAt === undefined ? 0 : jobDueMs
    const old = await ledger.dispatchedLongAgo(runId, { agedMs, limit: slicePerSweep })
    const byJob = new Map(old.map((one) => [operationJobId({ runId, ...one }), one]))
    const missing = new Set(await producer.missing('operations', [...byJob.keys()]))
    const lost = [...byJob].flatMap(([job, one]) => (missing.has(job) ? [one] : []))
    if (lost.length > 0) {
      const again = await ledger.requeue(runId, lost)
      state.unsent = [...state.unsent, ...again.map((one) => ({ ...one, priority: firstPriority }))]
      await producer.discard('operations', [...missing])
    }
    await enqueue(run, state, { producer })
  }
  state.sweepAt = performance.now() + everyMs
}
