import type { ProjectId, RunId } from '#domain/ids.ts'
import { indexKeys, runKeys } from './keys.ts'
import { transientSets } from './read-accounts.ts'
import type { LedgerStore } from './store.ts'

/**
 * What the ledger still holds of a run as if it had not ended, one sentence each (invariant 8). Right after the end some
 * of it is on its way out: the relay publishes the last results, and the run leaves the index of the active ones.
 */
export async function leftovers(
  store: LedgerStore,
  { projectId, runId }: { projectId: ProjectId; runId: RunId },
): Promise<string[]> {
  const { redis, namespace } = store
  const keys = runKeys(namespace, runId)
  const left: string[] = []
  for (const name of transientSets) {
    const [count, [first]] = await Promise.all([redis.zcard(keys[name]), redis.zrange(keys[name], '0', '0')])
    if (count > 0) left.push(`${count} in the set ${name}, ${first} first`)
  }
  const [results, cascade, active] = await Promise.all([
    redis.xlen(keys.outbox),
    redis.llen(keys.cascade),
    redis.zscore(indexKeys(namespace).active, `${projectId}/${runId}`),
  ])
  if (results > 0) left.push(`${results} in the outbox, not published to the results stream`)
  if (cascade > 0) left.push(`${cascade} ended operations whose dependents have not been told`)
  if (active !== null) left.push('the run in the index of active runs')
  return left
}
