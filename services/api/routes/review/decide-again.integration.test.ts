import { beforeAll, describe, expect, it } from 'vitest'
import type { FileChange } from '#domain/change-set.ts'
import {
  composeRun,
  plannedOperation,
  playedSetId,
  type PlayedEnding,
  playRepeat,
  playRun,
} from '../../played-run.fixture.ts'
import { openPlayedReview, type PlayedReview } from './played-review.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const source = 'a = 1\nb = 2\nc = 3\n'

let baseHash: string
let review: PlayedReview
const api = useTestApi()
beforeAll(async () => {
  review = openPlayedReview(api)
  baseHash = await api.blobs.put(api.project, Buffer.from(source))
})

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

describe('a change set that was made again', () => {
  /** `doc` is built on `fix`, collides with `rival`, and is made once more on top of that: `again`. */
  async function madeAgain() {
    const { fix, doc, rival } = endings()
    const run = await playRun(api, [fix, doc, rival])
    const again = { name: 'doc', changes: changesAt(6, 6, '# b\n'), builtOn: [idOf(rival)] }
    await playRepeat(api, run, again)
    return { run, base: idOf(fix), former: idOf(doc) }
  }

  it('because it collided does not keep what it is built on from being rejected, and is not rejected with it', async () => {
    const { run, base, former } = await madeAgain()
    const decided = await review.decide(run, one(base, 'reject', { with_dependents: true }))
    expect(decided).toMatchObject({ decisions: [{ change_set_id: base }], refused: [] })
    expect(decided.decisions).toHaveLength(1)
    expect((await review.decide(run, one(former, 'accept'))).refused).toMatchObject([
      { error_code: 'WORK_001', detail: expect.stringMatching(/Its operation was tried again since/) },
    ])
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
    await playRepeat(api, run, again)
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
    expect(shown.map((set) => [set.generation, set.is_redone, set.verdict])).toEqual([
      [3, false, 'pending'],
      [2, true, 'rejected'],
      [1, true, 'pending'],
    ])
  })

  it('by a retry, since it collided there, is not proposed any more', async () => {
    const { fix, doc } = endings()
    const run = await playRun(api, [fix, doc, { name: 'rival', fails: { code: 'AGENT_004', reason: 'no' } }])
    await composeRun(api, run, { files: [] })
    const retry = await review.retried(run, [endings().rival])
    await playRepeat(api, retry, { name: 'doc', leaves: 'nothing to do' })
    const shown = await review.changes(retry)
    expect(shown.find(({ change_set_id: id }) => id === idOf(doc))).toMatchObject({ is_redone: true })
    expect((await review.decide(retry, one(idOf(fix), 'reject'))).refused).toEqual([])
  })

  it('and then just the same by a retry counts as made by that', async () => {
    const { run, former, base } = await madeAgain()
    await composeRun(api, run, { files: [] })
    const retry = await review.retried(run, [{ ...endings().doc, builtOn: [base] }])
    const shown = (await review.changes(retry)).filter(({ change_set_id: id }) => id === former)
    expect(shown.map((set) => [set.generation, set.is_redone])).toEqual([[3, false]])
    expect((await review.decide(retry, one(base, 'reject'))).refused).toMatchObject([
      { blocked_by: [{ change_set_id: former, verdict: 'pending' }] },
    ])
  })
})
