import { z } from 'zod'
import { RunId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { CommitId, RepositorySource } from '#domain/repository-source.ts'
import { orStoreError } from '#ledger/store.ts'
import type { RedisClient } from '#platform/redis-client.ts'

const Since = RepositorySource.shape.since.unwrap()
type Since = z.infer<typeof Since>

/** The run of a branch: of which commit, what it is compared with, and as which of somebody's wishes it was begun. */
const BranchRun = z.object({ runId: RunId, commit: CommitId, since: Since.optional(), again: z.string().optional() })
type BranchRun = z.infer<typeof BranchRun>

const BranchState = z.object({
  current: BranchRun.optional(),
  /** The last one that was completed: what newer ones are compared with. */
  completed: z.object({ runId: RunId, commit: CommitId }).optional(),
})
export type BranchState = z.infer<typeof BranchState>

/** A branch, or `pull/<number>` of a fork's pull request. */
export type BranchKey = { repositoryId: number; branch: string }

export type BranchRuns = ReturnType<typeof openBranchRuns>

// Answers the state that is kept: the given one, unless another one than the one it was made from was kept meanwhile.
const putScript = `
local kept = redis.call('HGET', KEYS[1], ARGV[1])
if (kept or '') ~= ARGV[2] then return kept or '' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return ARGV[3]`

/** Which run each branch of the code host has. In Redis, in the slot of the inbox of deliveries. */
export function openBranchRuns(redis: Pick<RedisClient, 'eval' | 'hget' | 'hset'>, namespace = 'remora') {
  const keys = { branches: `${namespace}:{github}:branches`, runs: `${namespace}:{github}:branch-of-run` }
  const fieldOf = ({ repositoryId, branch }: BranchKey) => `${repositoryId} ${branch}`
  const read = async (field: string) => (await orStoreError(redis.hget(keys.branches, field))) ?? ''
  const parsed = (text: string): BranchState => BranchState.safeParse(parseJson(text)).data ?? {}
  const change = async (field: string, to: (state: BranchState) => BranchState | undefined): Promise<BranchState> => {
    for (let text = await read(field); ;) {
      const next = to(parsed(text))
      if (next === undefined) return parsed(text)
      const made = JSON.stringify(next)
      const kept = z.string().parse(await orStoreError(redis.eval(putScript, 1, keys.branches, field, text, made)))
      if (kept === made) return parsed(text)
      text = kept
    }
  }
  return {
    async find(key: BranchKey): Promise<BranchState | undefined> {
      const text = await read(fieldOf(key))
      return text === '' ? undefined : parsed(text)
    },
    /**
     * Notes the run of a commit of a branch, unless the commit has one: then that is answered. With `again` it gets another one, once for
     * each of these words. `supersedes`: the run of an older commit.
     */
    async begin(asked: BranchKey & BranchRun): Promise<BranchRun & { supersedes?: RunId }> {
      const { repositoryId, branch, ...run } = asked
      const field = fieldOf({ repositoryId, branch })
      const isSame = ({ current }: BranchState) =>
        current?.commit === run.commit && (run.again === undefined || run.again === current.again)
      await orStoreError(redis.hset(keys.runs, run.runId, field))
      const before = await change(field, (state) => (isSame(state) ? undefined : { ...state, current: run }))
      if (before.current !== undefined && isSame(before)) return before.current
      return { ...run, ...(before.current && { supersedes: before.current.runId }) }
    },
    /** The run was completed: newer ones of its branch are compared with it, unless a newer one was completed before. */
    async complete(runId: RunId): Promise<void> {
      const field = await orStoreError(redis.hget(keys.runs, runId))
      if (field === null) return
      await change(field, (state) => {
        const { current } = state
        if (current?.runId !== runId || state.completed?.runId === runId) return undefined
        return { ...state, completed: { runId, commit: current.commit } }
      })
    },
  }
}
