import { beforeAll, describe, expect, it } from 'vitest'
import { composeChangeSets } from '#change-sets/compose-change-sets.ts'
import type { FileChange } from '#domain/change-set.ts'
import { openRandom } from '#platform/seeded-random.ts'
import { composeRun, playedSetId, type PlayedEnding, playRun } from '../../played-run.fixture.ts'
import { openPlayedReview, type PlayedReview } from './played-review.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const base = 'a = 1\nb = 2\nc = 3\n'

let baseHash: string
let review: PlayedReview
const api = useTestApi()
beforeAll(async () => {
  review = openPlayedReview(api)
  baseHash = await api.blobs.put(api.project, Buffer.from(base))
})

function changing(name: string, [start, end, text]: [number, number, string], builtOn: string[] = []): PlayedEnding {
  return { name, changes: changesAt(start, end, text), builtOn }
}

function changesAt(start: number, end: number, text: string): FileChange[] {
  return [{ kind: 'edit', path: 'a.py', baseHash, edits: [{ start, end, text }] }]
}

const fix = () => changing('fix', [4, 5, '10'])
const doc = () => changing('doc', [0, 5, '# a\na = 10'], ['fix'])
const last = () => changing('more', [12, 17, 'c = 30'], ['fix', 'doc'])

const played = () => playRun(api, [fix(), doc(), last()])

/** `all`: the endings of the run, where those that it names are others than the usual ones. */
const idOf = (ending: PlayedEnding, all = [fix(), doc(), last()]) => playedSetId(ending, all)

const one = (ending: PlayedEnding, verdict: string, more: object = {}) => ({
  decisions: [{ change_set_id: idOf(ending), verdict }],
  ...more,
})

describe('decisions on change sets that are built on others', () => {
  it('accept these with them, in the same step, and say so', async () => {
    const runId = await played()
    const { decisions } = await review.decide(runId, one(last(), 'accept', { reason: 'good' }))
    expect(decisions.map(({ qualified_name: name, because_of: of }) => [name, of])).toEqual([
      ['more', undefined],
      ['fix', idOf(last())],
      ['doc', idOf(last())],
    ])
    expect(decisions[1]?.decision?.reason).toBe(null)
    expect(decisions[1]?.decision?.note).toBe(`lint a.py more ${idOf(last())}, which was accepted, is built on it`)
    expect(await review.verdicts(runId)).toEqual({ fix: 'accepted', doc: 'accepted', more: 'accepted' })
    const events = await api.ledger.readEvents(runId, { after: 0, limit: 1_000 })
    const made = events.flatMap(({ event, data }) => (event === 'decision.made' ? [data['qualified_name']] : []))
    expect(made).toEqual(['fix', 'doc', 'more'])
    const built = (await review.changes(runId)).map((change) => [change.qualified_name, change.built_on ?? []])
    expect(Object.fromEntries(built)).toEqual({
      fix: [],
      doc: [idOf(fix())],
      more: [idOf(fix()), idOf(doc())],
    })
  })

  it('accept nothing on what is rejected', async () => {
    const runId = await played()
    await review.decide(runId, one(fix(), 'reject', { with_dependents: true }))
    const { refused } = await review.decide(runId, one(doc(), 'accept'))
    expect(refused).toMatchObject([
      {
        error_code: 'WORK_001',
        detail: `lint a.py doc ${idOf(doc())} cannot be accepted: it is built on what is not accepted: lint a.py fix ${idOf(fix())}`,
        blocked_by: [{ qualified_name: 'fix', verdict: 'rejected' }],
        blocked_by_count: 1,
      },
    ])
    expect(await review.verdicts(runId)).toEqual({ fix: 'rejected', doc: 'rejected', more: 'rejected' })
  })

  it('accept nothing when one of them collides, and name the two', async () => {
    const rival = changing('rival', [4, 5, '7'])
    const runId = await playRun(api, [fix(), rival, doc()])
    await review.decide(runId, one(rival, 'accept'))
    const { refused } = await review.decide(runId, one(doc(), 'accept'))
    expect(refused).toMatchObject([
      {
        error_code: 'WORK_001',
        detail: expect.stringMatching(/doc c\w+ cannot be accepted: lint a\.py fix .*on which it is built: .*rival/),
        conflict: { change_set_id: idOf(fix()), with: { change_set_id: idOf(rival) } },
      },
    ])
    expect(await review.verdicts(runId)).toEqual({ fix: 'pending', rival: 'accepted', doc: 'pending' })
  })

  it.each([
    ['reject', 'rejected'],
    ['undo', 'pending'],
  ])('%s what others are built on only with these', async (verdict, becomes) => {
    const runId = await played()
    await review.decide(runId, one(last(), 'accept'))
    const refused = (await review.decide(runId, one(fix(), verdict))).refused
    expect(refused).toMatchObject([{ error_code: 'WORK_001', blocked_by: [{}, {}], blocked_by_count: 2 }])
    const { decisions } = await review.decide(runId, one(fix(), verdict, { with_dependents: true, reason: 'wrong' }))
    expect(decisions.map((set) => [set.qualified_name, set.verdict, set.because_of])).toEqual([
      ['fix', becomes, undefined],
      ['more', becomes, idOf(fix())],
      ['doc', becomes, idOf(fix())],
    ])
    const why = verdict === 'undo' ? 'taken back' : 'rejected'
    const note = `built on lint a.py fix ${idOf(fix())}, which was ${why}`
    expect(decisions[1]?.decision).toMatchObject({ note, reason: 'wrong' })
  })

  it('with what one was built on do not reject what a retry makes without that', async () => {
    const former = await played()
    await composeRun(api, former, { files: [] })
    await review.decide(former, one(fix(), 'reject', { with_dependents: true, reason: 'wrong' }))
    const alone = changing('doc', [0, 5, '# a\na = 10'])
    const madeIn = async (generation: number) => {
      const all = await review.changes(await review.retried(former, [alone]))
      return all.filter((set) => set.generation === generation)
    }
    expect(await madeIn(2)).toMatchObject([{ change_set_id: idOf(alone), verdict: 'pending' }])
    expect((await review.decide(former, one(alone, 'accept'))).refused).toEqual([])
    await review.decide(former, one(alone, 'reject'))
    await composeRun(api, former, { files: [] })
    expect(await madeIn(3)).toMatchObject([{ change_set_id: idOf(alone), verdict: 'rejected' }])
  })

  it('without a word bring nothing back: nobody has said anything of what was rejected with another one', async () => {
    const runId = await played()
    await composeRun(api, runId, { files: [] })
    await review.decide(runId, one(fix(), 'reject', { with_dependents: true }))
    const headers = { 'content-type': 'application/json' }
    const retry = (choice: object) =>
      api.ask(`/v1/runs/${runId}/retry`, { method: 'POST', headers, body: JSON.stringify(choice) })
    expect(await (await retry({ rejected: true })).json()).toMatchObject({ error_code: 'INTAKE_007' })
    await review.decide(runId, one(doc(), 'reject', { reason: 'says nothing' }))
    expect((await retry({ rejected: true })).status).toBe(202)
  })

  it.each([1, 2, 3, 4, 5, 6])('keep what is accepted whole, whatever is decided: seed %i', async (seed) => {
    const random = openRandom(seed)
    const endings: PlayedEnding[] = []
    for (let at = 0; at < 6; at += 1) {
      const [on] = endings.filter(() => random.chance(0.3))
      const needed = on !== undefined && 'builtOn' in on ? [on.name, ...(on.builtOn ?? [])] : []
      const start = random.int(0, 12)
      endings.push(changing(`s${at}`, [start, start + random.int(0, 4), `${at}`], needed))
    }
    const runId = await playRun(api, endings)
    for (let step = 0; step < 12; step += 1) {
      const decisions = endings
        .filter(() => random.chance(0.3))
        .map((ending) => ({ change_set_id: idOf(ending, endings), verdict: random.pick(['accept', 'reject', 'undo']) }))
      if (decisions.length > 0) await review.decide(runId, { decisions, with_dependents: random.chance(0.5) })
    }
    const now = await review.changes(runId)
    const accepted = now.filter(({ verdict }) => verdict === 'accepted')
    const sets = endings.flatMap((ending) => {
      const shown = accepted.find((change) => change.change_set_id === idOf(ending, endings))
      if (shown === undefined || !('changes' in ending)) return []
      const ids = { changeSetId: idOf(ending, endings), operationId: 'o0', bundle: 'lint', nodeId: 'n0', evidence: [] }
      return [{ ...ids, files: ending.changes, ...(shown.built_on && { builtOn: shown.built_on }) }]
    })
    expect(composeChangeSets(sets).conflicts).toEqual([])
    expect((await api.ledger.verify(runId)).violations).toEqual([])
  })
})
