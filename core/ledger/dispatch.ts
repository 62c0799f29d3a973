import { z } from 'zod'
import { newToken, OperationId, type RunId } from '#domain/ids.ts'
import { runKeys } from './keys.ts'
import { expectKnownRun } from './refusal.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('dispatch')
const unlimited = 1_000_000
const count = z.int().min(0)
export const Taken = z.strictObject({ operationId: OperationId, dispatch: z.int().min(1) })
/** A job to enqueue. */
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
 * Takes up to `max` ready operations, those that run first, but no more than keep dispatched and running ones within
 * `window`; and tells dependents that are still to be told. Takes none unless the run is executing and not stopped. One
 * whose next loss would be its last is taken alone, when nothing else is. The last `command` sent again gives the same
 * answer and takes nothing more. Counts are those after the step. RUN_001 for an unknown run.
 */
export async function dispatch(
  store: LedgerStore,
  runId: RunId,
  max: number,
  { command = newToken(), window = unlimited }: { command?: string; window?: number } = {},
): Promise<DispatchAnswer> {
  const keys = runKeys(store.namespace, runId)
  const candidates = max > 0 ? await candidatesOf(store, runId, max) : []
  const answer = await script(
    store.redis,
    [...keys.scripted, ...candidates.map(keys.operation)],
    [command, store.origin.kind, store.origin.id, max, window, ...candidates],
  )
  return DispatchAnswer.parse(JSON.parse(z.string().parse(expectKnownRun(runId, answer))))
}

async function candidatesOf({ redis, namespace }: LedgerStore, runId: RunId, max: number): Promise<OperationId[]> {
  const { suspects, ready } = runKeys(namespace, runId)
  const [first, suspect] = await Promise.all([
    redis.zrange(ready, '0', String(max - 1)),
    redis.zrange(suspects, '0', '0'),
  ])
  return [...first, ...suspect]
}
