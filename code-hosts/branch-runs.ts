import { z } from 'zod'
import { RunId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { CommitId, type HostedRepository, RepositorySource } from '#domain/repository-source.ts'
import { orStoreError } from '#store/ledger/store.ts'
import type { RedisClient } from '#platform/redis-client.ts'

/** `since` is what the run compares with; when it is null, it works on all of the code. */
export type BranchRun = { runId: RunId; commit: CommitId; since: NonNullable<RepositorySource['since']> | null }

export type Branch = { repositoryId: HostedRepository['id']; branch: string }

export function branchOf({ repository, branch, ref }: RepositorySource): Branch {
  return { repositoryId: repository.id, branch: branch ?? ref }
}

/** `supersedes` is the run of the push before, if that was not completed by then. */
export type BegunBranchRun = { run: BranchRun; supersedes: RunId | null }

export type BranchRuns = ReturnType<typeof openBranchRuns>

type Redis = Pick<RedisClient, 'eval' | 'hgetall'>

/** A branch that rests for longer begins anew, with the commit before the push to compare with. */
const keptSeconds = 180 * 86_400

const beginScript = `
local before = redis.call('HMGET', KEYS[1], 'run', 'commit', 'completed_run', 'completed_commit', 'again', 'since')
local told = { 'HMGET', KEYS[1], 'run', 'commit', 'since', 'supersedes' }
local is_same = before[2] == ARGV[2]
if is_same and (ARGV[5] == '' or before[5] == ARGV[5]) then return redis.call(unpack(told)) end
local since = ARGV[3]
if is_same then since = before[6]
elseif before[3] then since = cjson.encode({ runId = before[3], commit = before[4] }) end
local supersedes = before[1] and before[1] ~= before[3] and before[1] or ''
redis.call('HSET', KEYS[1], 'run', ARGV[1], 'commit', ARGV[2], 'since', since, 'supersedes', supersedes, 'again', ARGV[5])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return redis.call(unpack(told))`
const completeScript = `
local kept = redis.call('HMGET', KEYS[1], 'run', 'commit')
if kept[1] ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'completed_run', kept[1], 'completed_commit', kept[2])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1`

const Since = z.string().transform((text) =>
  RepositorySource.shape.since
    .unwrap()
    .nullable()
    .parse(parseJson(text) ?? null),
)
const Begun = z.tuple([RunId, CommitId, Since, z.union([RunId, z.literal('')])])
const Kept = z.object({
  run: RunId,
  commit: CommitId,
  since: Since,
  completed_run: RunId.optional(),
  completed_commit: CommitId.optional(),
})

/** Keeps for each branch the run of its newest push, and the one that was completed last. */
export function openBranchRuns(redis: Redis, namespace = 'remora') {
  const keyOf = ({ repositoryId, branch }: Branch) => `${namespace}:{github}:branch:${repositoryId}:${branch}`
  return {
    /**
     * Records the run of a push before it is made, and returns it, or the run that the newest push already has at this commit. `again` names
     * a request for one more run of that commit; the same name makes one run only.
     */
    async begin(of: Branch, push: BranchRun, again = ''): Promise<BegunBranchRun> {
      const args = [push.runId, push.commit, JSON.stringify(push.since), String(keptSeconds), again]
      const [runId, commit, since, supersedes] = Begun.parse(
        await orStoreError(redis.eval(beginScript, 1, keyOf(of), ...args)),
      )
      return { run: { runId, commit, since }, supersedes: supersedes === '' ? null : supersedes }
    },
    /** Later pushes are compared with this run. It returns false when a newer push has begun. */
    async complete(of: Branch, runId: RunId): Promise<boolean> {
      return (await orStoreError(redis.eval(completeScript, 1, keyOf(of), runId, String(keptSeconds)))) === 1
    },
    async find(of: Branch): Promise<{ current: BranchRun; completed: Omit<BranchRun, 'since'> | null } | undefined> {
      const { data } = Kept.safeParse(await orStoreError(redis.hgetall(keyOf(of))))
      if (data === undefined) return undefined
      const { run: runId, commit, since, completed_run: completedRun, completed_commit: completedCommit } = data
      const isCompleted = completedRun !== undefined && completedCommit !== undefined
      const completed = isCompleted ? { runId: completedRun, commit: completedCommit } : null
      return { current: { runId, commit, since }, completed }
    },
  }
}
