import { newToken } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { operationJobId } from '#queues/catalog.ts'
import type { Producer } from '#queues/producer.ts'
import type { Attention } from './attention.ts'

export type EnqueueDeps = {
  ledger: Pick<Ledger, 'dispatch'>
  producer: Pick<Producer, 'addMany'>
}

/** Dispatches what is ready until `share` operations of the run are enqueued or running, and enqueues it. */
export async function enqueueReady(run: Run, share: number, attention: Attention, deps: EnqueueDeps): Promise<void> {
  const { runId, counts } = run
  await enqueue(run, attention, deps)
  const underWay = counts.dispatched + counts.running
  const waiting = counts.ready + counts.pending
  // With nothing open at all, dependents are still to be told: that is the dispatch's business, too. A run that waits for
  // people has none to tell, and may do so for days.
  const isDue = run.status !== 'waiting' && (underWay === 0 || (underWay < share && waiting > 0))
  if (attention.command === undefined && !isDue) return
  attention.command ??= newToken()
  const { command } = attention
  // The window is looked at again in the step: another dispatcher may have filled it since.
  const { taken } = await deps.ledger.dispatch(runId, Math.max(0, share - underWay), { command, window: share })
  attention.command = undefined
  attention.unsent = taken
  await enqueue(run, attention, deps)
}

/** Adds the jobs of what was handed out. Adding one again that is there, or done with, changes nothing. */
export async function enqueue(
  { runId, traceparent }: Run,
  attention: Attention,
  { producer }: Pick<EnqueueDeps, 'producer'>,
): Promise<void> {
  if (attention.unsent.length === 0) return
  const jobs = attention.unsent.map(({ operationId, dispatch }) => ({
    id: operationJobId({ runId, operationId, dispatch }),
    payload: { run_id: runId, operation_id: operationId, dispatch, traceparent },
  }))
  await producer.addMany('operations', jobs)
  attention.unsent = []
}
