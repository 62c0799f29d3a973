import { z } from 'zod'
import { neededFirst } from '#change-sets/independent-groups.ts'
import type { ReadBlob } from '#change-sets/file-versions.ts'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/ids.ts'
import { orStoreError, redisNowMs } from '#store/ledger/store.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import type { RedisClient } from '#platform/redis-client.ts'

type ChangedNode = Pick<CodeNode, 'path' | 'kind' | 'qualifiedName'>

/** A change set, and what the operation that made it worked on. `acceptedByPersonAt`: see change-sets/accepted-sets.ts. */
export type ChangeOfNode = { set: ChangeSet; node: ChangedNode; acceptedByPersonAt?: number | undefined }

/** Is the same for the same change by the same agent to the same node in whatever run: what counts are the texts before and after. */
export async function changeKey({ set, node }: ChangeOfNode, readBlob: ReadBlob): Promise<string> {
  const files = await Promise.all(set.files.map((file) => whatChanges(file, readBlob)))
  const { path, kind, qualifiedName } = node
  const of = [set.bundle, path, kind, qualifiedName, files.toSorted((left, right) => (left < right ? -1 : 1))]
  return sha256(JSON.stringify(of)).slice(0, 32)
}

async function whatChanges(file: FileChange, readBlob: ReadBlob): Promise<string> {
  const { kind, path, executable = null } = file
  if (kind === 'create') return JSON.stringify([kind, path, executable, sha256(file.content)])
  if (kind === 'delete') return JSON.stringify([kind, path, file.baseHash])
  const base = file.edits.length === 0 ? new Uint8Array() : await readBlob(file.baseHash)
  const edits = file.edits.map(({ start, end, text }) => [sha256(base.subarray(start, end)), sha256(text)])
  return JSON.stringify([kind, path, executable, edits])
}

export type DeclinedChanges = ReturnType<typeof openDeclinedChanges>

export type DeclinedLimits = { most: number; days: number }

const usualLimits: DeclinedLimits = { most: 20_000, days: 400 }
const dayMs = 86_400_000
/** So many keys are sent at once. */
const sliceLength = 1_000

const addScript = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], now, ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[1]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])`

const removeOlderScript = `
for i = 1, #ARGV, 2 do
  local added = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if added and tonumber(added) < tonumber(ARGV[i + 1]) then redis.call('ZREM', KEYS[1], ARGV[i]) end
end`

const Scores = z.array(z.coerce.number().nullable())

/** Keeps what people did not want, since they closed its pull request: by repository, the newest 20,000 for 400 days. */
export function openDeclinedChanges(redis: RedisClient, namespace = 'remora', limits: DeclinedLimits = usualLimits) {
  // In the slot of a cluster that has all that concerns GitHub.
  const keyOf = (repositoryId: number) => `${namespace}:{github}:declined:${repositoryId}`
  const keptMs = limits.days * dayMs
  return {
    /** Adding one again makes it the newest. */
    async add(repositoryId: number, changeKeys: readonly string[]): Promise<void> {
      for (const some of slicesOf(changeKeys)) {
        const args = [String(limits.most), String(keptMs), ...some]
        await orStoreError(redis.eval(addScript, 1, keyOf(repositoryId), ...args))
      }
    },
    /** Forgets the changes of a pull request that is open again. */
    async remove(repositoryId: number, changeKeys: readonly string[]): Promise<void> {
      for (const some of slicesOf(changeKeys)) await orStoreError(redis.zrem(keyOf(repositoryId), ...some))
    },
    /** Removes each key that was added before its time (milliseconds since the epoch), and keeps what was added anew since. */
    async removeOlder(repositoryId: number, before: ReadonlyMap<string, number>): Promise<void> {
      for (const some of slicesOf([...before])) {
        await orStoreError(redis.eval(removeOlderScript, 1, keyOf(repositoryId), ...some.flat().map(String)))
      }
    },
    /** Returns those of these keys that are kept, each with the time at which it was added, in milliseconds since the epoch. */
    async among(repositoryId: number, changeKeys: readonly string[]): Promise<Map<string, number>> {
      const since = (await orStoreError(redisNowMs(redis))) - keptMs
      const kept = new Map<string, number>()
      for (const some of slicesOf(changeKeys)) {
        const scores = Scores.parse(await orStoreError(redis.zmscore(keyOf(repositoryId), ...some)))
        for (const [at, key] of some.entries()) {
          const addedAt = scores[at] ?? undefined
          if (addedAt !== undefined && addedAt >= since) kept.set(key, addedAt)
        }
      }
      return kept
    },
  }
}

function* slicesOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += sliceLength) yield all.slice(at, at + sliceLength)
}

const readsAtOnce = 16

type Declining = { repositoryId: number; declined: Pick<DeclinedChanges, 'among' | 'removeOlder'>; readBlob: ReadBlob }

/**
 * `declined`: what people did not want, and what is built on it. What a person has accepted since is wanted again, and not kept as declined
 * any more. Keeps the order.
 */
export async function withoutDeclined<T extends ChangeOfNode>(
  changes: readonly T[],
  { repositoryId, declined, readBlob }: Declining,
): Promise<{ left: T[]; declined: T[] }> {
  const keys = await mapBounded(changes, readsAtOnce, (change) => changeKey(change, readBlob))
  const known = await declined.among(repositoryId, keys)
  const wanted = new Map<string, number>()
  for (const [at, { acceptedByPersonAt }] of changes.entries()) {
    const declinedAt = known.get(keys[at] ?? '')
    const isWanted = declinedAt !== undefined && acceptedByPersonAt !== undefined && acceptedByPersonAt > declinedAt
    if (isWanted) wanted.set(keys[at] ?? '', acceptedByPersonAt)
  }
  await declined.removeOlder(repositoryId, wanted)
  const isUnwanted = (key = '') => known.has(key) && !wanted.has(key)
  const gone = new Set(changes.flatMap(({ set }, at) => (isUnwanted(keys[at]) ? set.changeSetId : [])))
  for (const { changeSetId, builtOn = [] } of neededFirst(changes.map(({ set }) => set))) {
    if (builtOn.some((id) => gone.has(id))) gone.add(changeSetId)
  }
  const isGone = ({ set }: T) => gone.has(set.changeSetId)
  return { left: changes.filter((change) => !isGone(change)), declined: changes.filter(isGone) }
}
