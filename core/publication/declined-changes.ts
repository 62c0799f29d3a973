import { z } from 'zod'
import { neededFirst } from '#composition/independent-groups.ts'
import type { ReadBlob } from '#composition/file-versions.ts'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/ids.ts'
import { orStoreError, redisNowMs } from '#ledger/store.ts'
import { mapBounded } from '#objects/map-bounded.ts'
import type { RedisClient } from '#platform/redis-client.ts'

type ChangedNode = Pick<CodeNode, 'path' | 'kind' | 'qualifiedName'>

/** A change set, what the operation that made it worked on, and when a person has accepted it, if one has. */
export type ChangeOfNode = { set: ChangeSet; node: ChangedNode; chosenAt?: number | undefined }

/**
 * The same for the same change by the same agent to the same node, whenever and in whatever run it is made: what counts is the text that
 * each edit replaces and the text that it writes, not where in the file that is. Reads the files that are edited.
 */
export async function changeKey({ set, node }: ChangeOfNode, readBlob: ReadBlob): Promise<string> {
  const files = await Promise.all(set.files.map((file) => whatChanges(file, readBlob)))
  const { path, kind, qualifiedName } = node
  const of = [set.bundle, path, kind, qualifiedName, files.toSorted((one, other) => (one < other ? -1 : 1))]
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

const Scores = z.array(z.coerce.number().nullable())

/**
 * The changes that people did not want: they closed the pull request that had them. They are kept by the code host's id of the
 * repository, the newest 20,000 of each for 400 days.
 */
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
    /** For a pull request that is open again. */
    async remove(repositoryId: number, changeKeys: readonly string[]): Promise<void> {
      for (const some of slicesOf(changeKeys)) await orStoreError(redis.zrem(keyOf(repositoryId), ...some))
    },
    /** When those of these keys that are kept were added, in milliseconds since the epoch. */
    async among(repositoryId: number, changeKeys: readonly string[]): Promise<Map<string, number>> {
      const since = (await orStoreError(redisNowMs(redis))) - keptMs
      const kept = new Map<string, number>()
      for (const some of slicesOf(changeKeys)) {
        const scores = Scores.parse(await orStoreError(redis.zmscore(keyOf(repositoryId), ...some)))
        for (const [at, one] of some.entries()) {
          const addedAt = scores[at] ?? -1
          if (addedAt >= since) kept.set(one, addedAt)
        }
      }
      return kept
    },
  }
}

function slicesOf(keys: readonly string[]): string[][] {
  const slices = Math.ceil(keys.length / sliceLength)
  return Array.from({ length: slices }, (_, at) => keys.slice(at * sliceLength, (at + 1) * sliceLength))
}

const readsAtOnce = 16

type Declining = { repositoryId: number; declined: Pick<DeclinedChanges, 'among' | 'remove'>; readBlob: ReadBlob }

/**
 * What may be proposed of these changes, in their order: `declined` are those that people did not want, and those that are built on one
 * of them. What a person has accepted since is wanted again, also of later runs.
 */
export async function withoutDeclined<T extends ChangeOfNode>(
  changes: readonly T[],
  { repositoryId, declined, readBlob }: Declining,
): Promise<{ left: T[]; declined: T[] }> {
  const keys = await mapBounded(changes, readsAtOnce, (change) => changeKey(change, readBlob))
  const known = await declined.among(repositoryId, keys)
  const wanted = new Set<string>()
  const gone = new Set<string>()
  for (const [at, { set, chosenAt = -1 }] of changes.entries()) {
    const key = keys[at] ?? ''
    const declinedAt = known.get(key)
    if (declinedAt === undefined) continue
    if (chosenAt > declinedAt) wanted.add(key)
    else gone.add(set.changeSetId)
  }
  await declined.remove(repositoryId, [...wanted])
  for (const { changeSetId, builtOn = [] } of neededFirst(changes.map(({ set }) => set))) {
    if (builtOn.some((id) => gone.has(id))) gone.add(changeSetId)
  }
  const isGone = ({ set }: T) => gone.has(set.changeSetId)
  return { left: changes.filter((one) => !isGone(one)), declined: changes.filter(isGone) }
}
