import { z } from 'zod'
import { newToken, OperationId, type RunId } from '#domain/ids.ts'
import { redisNowMs } from './redis-time.ts'
import { Taken } from './dispatch.ts'
import { runKeys } from './keys.ts'
import { expectKnownRun } from './refusal.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('requeue')

/** Up to `limit` operations that were dispatched at least `agedMs` ago and not claimed since, the oldest first. */
export async function dispatchedLongAgo(
  store: LedgerStore,
  runId: RunId,
  { agedMs, limit }: { agedMs: number; limit: number },
): Promise<Taken[]> {
  const keys = runKeys(store.namespace, runId)
  const until = (await redisNowMs(store.redis)) - agedMs
  const members = await store.redis.zrangebyscore(keys.dispatched, '-inf', until, 'LIMIT', 0, limit)
  const ids = z.array(OperationId).parse(members)
  const dispatches = await Promise.all(ids.map((id) => store.redis.hget(keys.operation(id), 'dispatch')))
  return ids.map((operationId, at) => Taken.parse({ operationId, dispatch: Number(dispatches[at]) }))
}

/**
 * Dispatches operations again whose jobs the queue has lost, under new numbers; those that were claimed or dispatched
 * since are left out. Answers what to enqueue; the same `command` gives the same answer. RUN_001 for an unknown run.
 */
export async function requeue(
  store: LedgerStore,
  runId: RunId,
  lost: readonly Taken[],
  command: string = newToken(),
): Promise<Taken[]> {
  const keys = runKeys(store.namespace, runId)
  const { kind, id } = store.origin
  const answer = await script(
    store.redis,
    [...keys.scripted, ...lost.map((one) => keys.operation(one.operationId))],
    [command, kind, id, ...lost.flatMap((one) => [one.operationId, one.dispatch])],
  )
  return z.array(Taken).parse(JSON.parse(z.string().parse(expectKnownRun(runId, answer))))
}
