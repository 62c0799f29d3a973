import { z } from 'zod'
import { newToken, OperationId, type RunId } from '#domain/ids.ts'
import { runKeys } from './keys.ts'
import { expectKnownRun } from './refusal.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('dispatch')
const count = z.int().min(0)
const Taken = z.strictObject({ operationId: OperationId, dispatch: z.int().min(1) })
export type Taken = z.infer<typeof Taken>

const DispatchAnswer = z.object({
  /** What to enqueue, in order. */
  taken: z.array(Taken).default([]),
  ready: count,
  dispatched: count,
  running: count,
  /** All that have not ended, whatever their state. */
  open: count,
  /** The run's trace, for the jobs' payloads. */
  traceparent: z.string().transform((text) => (text === '' ? null : text)),
})
export type DispatchAnswer = z.infer<typeof DispatchAnswer>

/**
 * Takes up to `max` ready operations, those that run first, and tells dependents that are still to be told. Takes none
 * unless the run is executing and not cancelled. The last `command` sent again gives the same answer and takes nothing
 * more. Counts are those after the step. RUN_001 for an unknown run.
 */
export async function dispatch(
  store: LedgerStore,
  runId: RunId,
  max: number,
  command: string = newToken(),
): Promise<DispatchAnswer> {
  const keys = runKeys(store.namespace, runId)
  const candidates = max > 0 ? await store.redis.zrange(keys.ready, 0, String(max - 1)) : []
  const answer = await script(
    store.redis,
    [...keys.scripted, ...candidates.map(keys.operation)],
    [command, store.origin.kind, store.origin.id, ...candidates],
  )
  return DispatchAnswer.parse(JSON.parse(z.string().parse(expectKnownRun(runId, answer))))
}

/** What the last `dispatch` of the run took. Its jobs may never have been added, if the dispatcher ended in between. */
export async function lastDispatched(store: LedgerStore, runId: RunId): Promise<Taken[]> {
  const answer = await store.redis.hget(runKeys(store.namespace, runId).run, 'dispatch_answer')
  return answer === null ? [] : DispatchAnswer.parse(JSON.parse(answer)).taken
}
