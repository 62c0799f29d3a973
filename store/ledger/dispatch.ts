import { z } from 'zod'
import { newToken, OperationId, type RunId } from '#domain/ids.ts'
import type { AwayModel } from '#domain/run.ts'
import { runKeys } from './keys.ts'
import { JsonReply, runCommand } from './script.ts'
import { type LedgerStore, redisNowMs } from './store.ts'

const unlimited = 1_000_000
const count = z.int().min(0)
export const Taken = z.strictObject({ operationId: OperationId, dispatch: z.int().min(1) })
export type Taken = z.infer<typeof Taken>

const DispatchAnswer = z.object({
  taken: z.array(Taken).default([]),
  ready: count,
  dispatched: count,
  running: count,
  open: count,
  traceparent: z.string().transform((text) => (text === '' ? null : text)),
})
export type DispatchAnswer = z.infer<typeof DispatchAnswer>

const takeReady = runCommand('dispatch', JsonReply.pipe(DispatchAnswer))

/** While a model is away or a budget is used up, one dispatch looks through this many further operations, so that the run soon says it waits. */
export const heldPerDispatch = 200

/**
 * Takes up to `max` ready operations in their order, but no more than keep dispatched and running ones within `window`; also
 * notifies dependents. Takes none unless the run is executing and not stopped. An operation whose next loss would be its last is
 * taken alone. Those whose model is away or whose budget is used up are held instead, about 200 at once; what may use more than a
 * budget has left beside what is reserved stays ready. The last `command`
 * again gives the same answer. RUN_001: unknown run.
 */
export async function dispatch(
  store: LedgerStore,
  runId: RunId,
  max: number,
  { command = newToken(), window = unlimited }: { command?: string; window?: number } = {},
): Promise<DispatchAnswer> {
  const keys = runKeys(store.namespace, runId)
  const candidates = max > 0 ? await candidatesOf(store, runId, max) : []
  const args = [command, store.origin.kind, store.origin.id, max, window, ...candidates]
  return takeReady(store, runId, args, candidates.map(keys.operation))
}

async function candidatesOf({ redis, namespace }: LedgerStore, runId: RunId, max: number): Promise<OperationId[]> {
  const { run, suspects, ready } = runKeys(namespace, runId)
  const [first, suspect, waits] = await Promise.all([
    redis.zrange(ready, '0', String(max - 1)),
    redis.zrange(suspects, '0', '0'),
    redis.hmget(run, 'away', 'over_run', 'over_project', 'bound'),
  ])
  const more = waits.some((wait) => wait !== null)
    ? await redis.zrange(ready, String(max), String(max + heldPerDispatch - 1))
    : []
  return [...first, ...more, ...suspect]
}

/** Lists up to `limit` operations that were dispatched at least `agedMs` ago and not claimed since, the oldest first. */
export async function dispatchedLongAgo(store: LedgerStore, runId: RunId, page: { agedMs: number; limit: number }) {
  const keys = runKeys(store.namespace, runId)
  const until = (await redisNowMs(store.redis)) - page.agedMs
  const members = await store.redis.zrangebyscore(keys.dispatched, '-inf', until, 'LIMIT', 0, page.limit)
  const ids = z.array(OperationId).parse(members)
  const dispatches = await Promise.all(ids.map((id) => store.redis.hget(keys.operation(id), 'dispatch')))
  return ids.map((operationId, at) => Taken.parse({ operationId, dispatch: Number(dispatches[at]) }))
}

const takeLost = runCommand('requeue', JsonReply.pipe(z.array(Taken)), 'events')

/** Returns the jobs to enqueue again; the same `command` gives the same answer. RUN_001 for an unknown run. */
export async function requeue(store: LedgerStore, runId: RunId, lost: readonly Taken[], command: string = newToken()) {
  const keys = runKeys(store.namespace, runId)
  const { kind, id } = store.origin
  const args = [command, kind, id, ...lost.flatMap((operation) => [operation.operationId, operation.dispatch])]
  return takeLost(
    store,
    runId,
    args,
    lost.map((operation) => keys.operation(operation.operationId)),
  )
}

/** `lost`: operations whose lease ran out. `abandoned`: all running ones, because none of their workers is alive. */
export type SweepReason = 'lost' | 'abandoned'

/** `left`: for the next call. `takenBack`: from their workers, also those that ended for that. */
export type SweepAnswer = { left: number; takenBack: number }
const sweepRun = runCommand('sweep', z.tuple([count, count]))

/**
 * Takes back up to 200 operations whose lease has run out: they become ready again (`operation.retried`), or fail after the
 * third loss; an abandoned one counts as no loss. Ends up to 200 that were not answered in time as blocked (ASK_003), and as skipped
 * (LIMIT_004) those of items whose seconds are over that neither run nor wait. RUN_001 for an unknown run.
 */
export async function sweep(store: LedgerStore, runId: RunId, reason: SweepReason = 'lost'): Promise<SweepAnswer> {
  const { kind, id } = store.origin
  const [left, takenBack] = await sweepRun(store, runId, [kind, id, reason])
  return { left, takenBack }
}

const writeAway = runCommand('set-away', z.unknown())

/** `models.away`, `models.back`: operations are held until then. RUN_001 for an unknown run. */
export async function setAway(store: LedgerStore, runId: RunId, away: readonly AwayModel[]): Promise<void> {
  const { kind, id } = store.origin
  await writeAway(store, runId, [JSON.stringify(asStored(away)), kind, id])
}

/** Sorts the models as `setAway` stores them, so that equal lists are equal texts. */
export function asStored(away: readonly AwayModel[]): AwayModel[] {
  const sorted = away.toSorted((left, right) => (left.model < right.model ? -1 : 1))
  return sorted.map(({ model, since, bundles }) => ({ model, since: Math.round(since), bundles: bundles.toSorted() }))
}

/** Counts the ready operations that are held: none once what they wait for is back, until all have had their turn again. */
export async function countHeld({ redis, namespace }: LedgerStore, runId: RunId): Promise<number> {
  const { run, held } = runKeys(namespace, runId)
  const [isWaking, all] = await Promise.all([redis.hexists(run, 'wake'), redis.zcard(held)])
  return isWaking === 1 ? 0 : all
}

const blockSome = runCommand('block-held', z.string())

/** Ends the held operations of a bundle as blocked (AGENT_002): its model was away for too long. RUN_001: unknown run. */
export async function blockHeld(store: LedgerStore, runId: RunId, how: { bundle: string; reason: string }) {
  const { kind, id } = store.origin
  for (let from = '-inf'; from !== '';) from = await blockSome(store, runId, [how.bundle, how.reason, from, kind, id])
}
