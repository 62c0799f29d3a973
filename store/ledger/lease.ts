import { AppError } from '#domain/error.ts'
import { newToken, type RunId } from '#domain/ids.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { runKeys } from './keys.ts'
import { plainScript } from './script.ts'
import { type LedgerStore, orStoreError } from './store.ts'

const script = plainScript('lease')

/**
 * Runs `work` while this process alone holds the lease `key`, renewed three times in `ms`; undefined when another one holds it.
 * When it could not be renewed, the signal is aborted (STORE_001). A holder that dies keeps others out for `ms` at most. Until then the
 * key has the token.
 */
export async function withLease<T>(
  redis: RedisClient,
  lease: { key: string; ms: number },
  work: (signal: AbortSignal, token: string) => Promise<T>,
): Promise<T | undefined> {
  const token = newToken()
  if ((await orStoreError(redis.set(lease.key, token, 'PX', lease.ms, 'NX'))) === null) return undefined
  const lost = new AbortController()
  const stopRenewing = repeatEvery(lease.ms / 3, async () => {
    const held = await holdLease(redis, { ...lease, token }).catch(() => false)
    if (!held) lost.abort(new AppError('STORE_001', `the lease ${lease.key} could not be renewed`))
  })
  try {
    return await work(lost.signal, token)
  } finally {
    await stopRenewing()
    await endLease(redis, { ...lease, token })
  }
}

/** Renews a lease; false when `token` does not hold it any more. */
export async function holdLease(redis: RedisClient, lease: { key: string; ms: number; token: string }) {
  return (await orStoreError(script(redis, [lease.key], [lease.token, lease.ms]))) === 1
}

/** Ends a lease; does nothing when `token` does not hold it any more. */
export async function endLease(redis: RedisClient, lease: { key: string; token: string }): Promise<void> {
  await orStoreError(script(redis, [lease.key], [lease.token, 0]))
}

/** What of a run one process does at a time: it watches it, or answers what is asked about it. */
export type HeldPart = 'watching' | 'answering'

const heldMs = 30_000

/** Runs `work` while no other process does that part of the run; undefined when one does. A lost lease aborts the signal. */
export function whileHolding<T>(
  { redis, namespace }: Pick<LedgerStore, 'redis' | 'namespace'>,
  runId: RunId,
  part: HeldPart,
  work: (signal: AbortSignal, token: string) => Promise<T>,
): Promise<T | undefined> {
  return withLease(redis, { key: runKeys(namespace, runId)[part], ms: heldMs }, work)
}
