import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { type BranchRuns, openBranchRuns } from './branch-runs.ts'

let other: Redis
let runs: BranchRuns
const test = useOpened(testLedger)
beforeAll(async () => {
  other = new Redis(test.redisUrl)
  runs = openBranchRuns(test.redis, test.namespace)
})
afterAll(() => other.quit())

const commitOf = (digit: string) => digit.repeat(40)
const push = (run: string, digit: string) => ({ runId: `r0000000${run}`, commit: commitOf(digit), since: null })
let repositories = 0
const aBranch = () => ({ repositoryId: ++repositories, branch: 'feature/{x}:1' })

it('begins one run for a commit, however many ask for it at once', async () => {
  const branch = aBranch()
  const elsewhere = openBranchRuns(other, test.namespace)
  const asked = Array.from({ length: 40 }, (_, at) =>
    (at % 2 === 0 ? runs : elsewhere).begin(branch, push(`${at}x`, 'a')),
  )
  const answers = await Promise.all(asked)
  expect(new Set(answers.map(({ run }) => run.runId)).size).toBe(1)
  expect((await runs.find(branch))?.current).toEqual(answers[0]?.run)
})

it('names the run that a newer push supersedes, also when it is asked again', async () => {
  const branch = aBranch()
  expect(await runs.begin(branch, push('1', 'a'))).toEqual({ run: push('1', 'a'), supersedes: null })
  const newer = { run: push('2', 'b'), supersedes: 'r00000001' }
  expect(await runs.begin(branch, push('2', 'b'))).toEqual(newer)
  expect(await runs.begin(branch, push('3', 'b'))).toEqual(newer)
})

it('of two newer pushes at once, lets one supersede the other', async () => {
  const branch = aBranch()
  await runs.begin(branch, push('1', 'a'))
  const both = await Promise.all([runs.begin(branch, push('2', 'b')), runs.begin(branch, push('3', 'c'))])
  const last = (await runs.find(branch))?.current.runId
  const chain = both.toSorted((one) => (one.run.runId === last ? 1 : -1))
  expect(chain.map(({ supersedes }) => supersedes)).toEqual(['r00000001', chain[0]?.run.runId])
})

it('compares a push with the run that was completed last, else with what the push says', async () => {
  const branch = aBranch()
  const first = { ...push('1', 'b'), since: { commit: commitOf('a') } }
  expect(await runs.begin(branch, first)).toEqual({ run: first, supersedes: null })
  expect(await runs.complete(branch, 'r00000001')).toBe(true)
  const since = { runId: 'r00000001', commit: commitOf('b') }
  const second = { run: { ...push('2', 'c'), since }, supersedes: null }
  expect(await runs.begin(branch, { ...push('2', 'c'), since: { commit: commitOf('b') } })).toEqual(second)
  const third = await runs.begin(branch, push('3', 'd'))
  expect(third).toEqual({ run: { ...push('3', 'd'), since }, supersedes: 'r00000002' })
  expect(await runs.complete(branch, 'r00000002')).toBe(false)
  expect(await runs.find(branch)).toEqual({
    current: third.run,
    completed: { runId: 'r00000001', commit: commitOf('b') },
  })
})

it('keeps branches apart, and knows nothing of one without a push', async () => {
  const branch = aBranch()
  await runs.begin(branch, push('1', 'a'))
  expect(await runs.find({ ...branch, branch: 'main' })).toBeUndefined()
  expect(await runs.find({ ...branch, repositoryId: 99 })).toBeUndefined()
  expect(await runs.complete({ ...branch, branch: 'main' }, 'r00000001')).toBe(false)
})
