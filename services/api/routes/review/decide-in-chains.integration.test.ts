import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { FileChange } from '#domain/change-set.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { openTestApi, type TestApi } from '../../app.fixture.ts'
import {
  composeRun,
  plannedOperation,
  playedSetId,
  type PlayedEnding,
  playRepeat,
  playRun,
} from '../../played-run.fixture.ts'
import { openPlayedReview, type PlayedReview } from './played-review.fixture.ts'

const RunFunnel = z.object({ funnel: z.array(z.object({ agent: z.string(), rejected: z.int() })) })
const source = 'a = 1\nb = 2\nc = 3\n'

let api: TestApi
let baseHash: string
let review: PlayedReview
beforeAll(async () => {
  api = await openTestApi(await testRedis(), await testObjects())
  review = openPlayedReview(api)
  baseHash = await api.blobs.put(api.project, Buffer.from(source))
})
afterAll(() => api.close())

const changesAt = (start: number, end: number, text: string): FileChange[] => [
  { kind: 'edit', path: 'a.py', baseHash, edits: [{ start, end, text }] },
]
const endings = () => ({
  fix: { name: 'fix', changes: changesAt(4, 5, '10') },
  doc: { name: 'doc', changes: changesAt(0, 5, '# a\na = 10'), builtOn: ['fix'] },
  rival: { name: 'rival', changes: changesAt(0, 0, '# rival\n') },
})
const idOf = (ending: PlayedEnding) => playedSetId(ending, [endings().fix])
const one = (id: string, verdict: string, more: object = {}) => ({
  decisions: [{ change_set_id: id, verdict }],
  ...more,
})

/** `fix`, and in a retry of its run `doc`, which is built on it. Answers both runs and the two sets. */
async function builtInRetry() {
  const { fix, doc } = endings()
  const former = await playRun(api, [fix, { name: 'doc', fails: { code: 'AGENT_004', reason: 'no' } }])
  await composeRun(api, former, { files: [] })
  const retry = await review.retried(former, [{ ...doc, builtOn: [idOf(fix)] }])
  return { former, retry, base: idOf(fix), built: idOf(doc) }
}

describe('what is counted of a retry that goes on', () => {
  const rejectedIn = async (runId: string) => {
    const { funnel } = RunFunnel.parse(await (await api.ask(`/v1/runs/${runId}`)).json())
    return funnel.map(({ agent, rejected }) => [agent, rejected])
  }

  it('is what was rejected and is not tried again, and what it has made of it', async () => {
    const { fix, rival } = endings()
    const same = { name: 'same', changes: changesAt(8, 9, '20') }
    const former = await playRun(api, [fix, rival, same])
    await review.decide(former, { where: {}, verdict: 'reject', reason: 'no' })
    expect(await rejectedIn(former)).toEqual([['lint', 3]])
    await composeRun(api, former, { files: [] })
    const again = { name: 'fix', changes: changesAt(4, 5, '100') }
    const retry = await review.retried(former, [again, same])
    expect(await rejectedIn(retry)).toEqual([['lint', 2]])
    await review.decide(retry, one(playedSetId(again, []), 'reject'))
    expect(await rejectedIn(retry)).toEqual([['lint', 3]])
    await review.decide(retry, one(playedSetId(fix, []), 'accept'))
    await review.decide(retry, one(playedSetId(fix, []), 'reject'))
    expect(await rejectedIn(retry)).toEqual([['lint', 3]])
  })
})

describe('a decision that is sent to an older run', () => {
  it.each(['undo', 'reject'])(
    'does not %s what something accepted is built on that a retry has made',
    async (verdict) => {
      const { former, retry, base, built } = await builtInRetry()
      await review.decide(retry, one(built, 'accept'))
      const { refused } = await review.decide(former, one(base, verdict))
      expect(refused).toMatchObject([{ error_code: 'WORK_001', blocked_by: [{ qualified_name: 'doc' }] }])
      const both = await review.decide(former, one(base, verdict, { with_dependents: true }))
      expect(both.decisions.map((set) => [set.change_set_id, set.because_of])).toEqual([
        [base, undefined],
        [built, base],
      ])
      const becomes = verdict === 'undo' ? 'pending' : 'rejected'
      expect(await review.verdicts(former)).toEqual({ fix: becomes })
      expect(await review.verdicts(retry)).toEqual({ fix: becomes, doc: becomes })
      expect((await api.ledger.verify(former)).violations).toEqual([])
    },
  )

  it('does not reject what something pending of a retry is built on', async () => {
    const { former, base, built } = await builtInRetry()
    expect((await review.decide(former, one(base, 'reject'))).refused).toMatchObject([
      { error_code: 'WORK_001', blocked_by: [{ change_set_id: built, verdict: 'pending' }] },
    ])
  })

  it('asks for what is accepted of a retry beside the newest one, too', async () => {
    const { former, retry, base, built } = await builtInRetry()
    await composeRun(api, retry, { files: [] })
    await review.decide(retry, one(built, 'accept'))
    const newest = await review.retried(
      former,
      [endings().rival].map((ending) => ({ ...ending, name: 'fix' })),
    )
    expect((await review.decide(newest, one(base, 'reject'))).refused).toMatchObject([
      { error_code: 'WORK_001', blocked_by: [{ change_set_id: built, verdict: 'accepted' }] },
    ])
    const both = await review.decide(newest, one(base, 'reject', { with_dependents: true }))
    expect(both.decisions).toMatchObject([{ change_set_id: base }, { change_set_id: built, verdict: 'rejected' }])
  })
})

describe('a change set that was made again', () => {
  /** `doc` is built on `fix`, collides with `rival`, and is made once more on top of that: `again`. */
  async function madeAgain() {
    const { fix, doc, rival } = endings()
    const run = await playRun(api, [fix, doc, rival])
    const again = { name: 'doc', changes: changesAt(6, 6, '# b\n'), builtOn: [idOf(rival)] }
    await playRepeat(api, run, again, [idOf(doc)])
    return { run, base: idOf(fix), former: idOf(doc) }
  }

  it('because it collided does not keep what it is built on from being rejected, and is not rejected with it', async () => {
    const { run, base, former } = await madeAgain()
    const decided = await review.decide(run, one(base, 'reject', { with_dependents: true }))
    expect(decided).toMatchObject({ decisions: [{ change_set_id: base }], refused: [] })
    expect(decided.decisions).toHaveLength(1)
    expect((await review.decide(run, one(former, 'accept'))).refused).toMatchObject([{ error_code: 'WORK_001' }])
  })

  it('because it collided is one that keeps it once somebody has accepted it', async () => {
    const { run, base, former } = await madeAgain()
    await review.decide(run, one(former, 'accept'))
    expect((await review.decide(run, one(base, 'reject'))).refused).toMatchObject([
      { blocked_by: [{ change_set_id: former, verdict: 'accepted' }] },
    ])
  })

  it('because it collided is made again as a whole by a retry of its work', async () => {
    const { fix, doc, rival } = endings()
    const run = await playRun(api, [fix, doc, rival])
    const again = { name: 'doc', changes: changesAt(6, 6, '# b\n'), builtOn: [idOf(fix)] }
    await playRepeat(api, run, again, [idOf(doc)])
    await composeRun(api, run, { files: [] })
    const retry = await review.retried(run, [{ name: 'doc', leaves: 'nothing to do' }])
    const shown = await review.changes(retry)
    const redone = shown.filter((set) => set.is_redone).map((set) => set.qualified_name)
    expect(redone).toEqual(['doc', 'doc'])
    expect((await review.decide(retry, one(idOf(fix), 'reject'))).refused).toEqual([])
  })

  it('by a retry is shown beside what it is, also where it was itself made because something collided', async () => {
    const { run, former } = await madeAgain()
    const again = (await review.changes(run)).find(
      (set) => set.qualified_name === 'doc' && set.change_set_id !== former,
    )
    await review.decide(run, one(again?.change_set_id ?? '', 'reject', { reason: 'says nothing' }))
    await composeRun(api, run, { files: [] })
    const retry = await review.retried(run, [{ name: 'doc', changes: changesAt(12, 12, '# c\n') }])
    const shown = await review.changesOf(retry, plannedOperation('doc').operationId)
    expect(shown.map((set) => [set.run_id, set.is_redone, set.verdict])).toEqual([
      [retry, false, 'pending'],
      [run, true, 'pending'],
      [run, true, 'rejected'],
    ])
    expect(await review.changesOf(run, plannedOperation('doc').operationId)).toHaveLength(1)
  })

  it('by a retry, since it collided there, is not proposed any more', async () => {
    const { fix, doc } = endings()
    const run = await playRun(api, [fix, doc, { name: 'rival', fails: { code: 'AGENT_004', reason: 'no' } }])
    await composeRun(api, run, { files: [] })
    const retry = await review.retried(run, [endings().rival])
    await playRepeat(api, retry, { name: 'doc', leaves: 'nothing to do' }, [idOf(doc)])
    const shown = await review.changes(retry)
    expect(shown.find(({ change_set_id: id }) => id === idOf(doc))).toMatchObject({ is_redone: true })
    expect((await review.decide(retry, one(idOf(fix), 'reject'))).refused).toEqual([])
  })

  it('and then just the same by a retry counts as made by that', async () => {
    const { run, former, base } = await madeAgain()
    await composeRun(api, run, { files: [] })
    const retry = await review.retried(run, [{ ...endings().doc, builtOn: [base] }])
    const shown = (await review.changes(retry)).filter(({ change_set_id: id }) => id === former)
    expect(shown.map((set) => [set.run_id, set.is_redone])).toEqual([
      [retry, false],
      [run, true],
    ])
    expect((await review.decide(retry, one(base, 'reject'))).refused).toMatchObject([
      { blocked_by: [{ change_set_id: former, verdict: 'pending' }] },
    ])
  })
})
