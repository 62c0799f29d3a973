import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { FileChange } from '#domain/change-set.ts'
import { getChangeSets } from '#store/objects/stored-records.ts'
import {
  composeRun,
  plannedOperation,
  playedSetId,
  type PlayedEnding,
  playOperations,
  playRun,
} from '../../played-run.fixture.ts'
import { decide } from '#stages/review/decide.ts'
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
  one: { name: 'one', changes: changesAt(0, 5, 'a = 10') },
  two: { name: 'two', changes: changesAt(4, 5, '20') },
  on: { name: 'on', changes: changesAt(0, 6, 'a = 10 # one\n'), builtOn: ['one'] },
})
const idOf = (ending: PlayedEnding) => playedSetId(ending, Object.values(endings()))
const decision = (ending: PlayedEnding, verdict: string, more: object = {}) => ({
  change_set_id: idOf(ending),
  verdict,
  ...more,
})

describe('decisions that are made together', () => {
  /** `one` is accepted, and `two`, which collides with it, was refused with the version of that. */
  async function collided() {
    const { one, two } = endings()
    const runId = await playRun(api, [one, two])
    await review.decide(runId, { decisions: [decision(one, 'accept')] })
    const { refused } = await review.decide(runId, { decisions: [decision(two, 'accept')] })
    const [seen] = z.array(z.looseObject({ with_decision: z.looseObject({ version: z.int() }) })).parse(refused)
    const first = decision(one, 'undo', { version: seen?.with_decision.version })
    return { runId, instead: { decisions: [first, decision(two, 'accept', { version: 0 })], all_or_none: true } }
  }

  it('are all made', async () => {
    const { runId, instead } = await collided()
    expect((await review.decide(runId, instead)).decisions).toMatchObject([
      { qualified_name: 'one', verdict: 'pending' },
      { qualified_name: 'two', verdict: 'accepted' },
    ])
  })

  it.each(['one', 'two'] as const)('are none, when somebody has decided on %s meanwhile', async (name) => {
    const { runId, instead } = await collided()
    await review.decide(runId, { decisions: [decision(endings()[name], 'reject')] })
    const before = await review.verdicts(runId)
    expect(await review.decide(runId, instead)).toMatchObject({
      decisions: [],
      refused: [{ error_code: 'WORK_003', qualified_name: name }],
    })
    expect(await review.verdicts(runId)).toEqual(before)
  })
})

describe('a rejection with what is built on it', () => {
  it('is not made over what somebody accepts while it is on its way', async () => {
    const { one, on } = endings()
    const runId = await playRun(api, [one, on])
    await review.decide(runId, { decisions: [decision(one, 'accept')] })
    const records = {
      readBlob: (project: string, hash: string) => api.blobs.get(project, hash),
      readChangeSets: (project: string, hash: string) => getChangeSets(api.objects, project, hash),
      readComposition: () => Promise.resolve(null),
    }
    let isFirst = true
    const ledger = {
      ...api.ledger,
      decide: async (...args: Parameters<typeof api.ledger.decide>) => {
        if (isFirst) await review.decide(runId, { decisions: [decision(on, 'accept')] })
        isFirst = false
        return api.ledger.decide(...args)
      },
    }
    const wanted = { changeSetId: idOf(one), verdict: 'rejected', reason: null, version: undefined } as const
    const by = { kind: 'human', id: 't2' } as const
    const options = { by, deps: { ledger, records }, withDependents: true }
    const { refused } = await decide(await api.ledger.getRun(runId), [wanted], options)
    expect(refused).toMatchObject([
      { changeSetId: idOf(one), errorCode: 'WORK_001', blocked: { by: [{ verdict: 'accepted' }] } },
    ])
    expect(await review.verdicts(runId)).toEqual({ one: 'accepted', on: 'accepted' })
  })
})

describe('a rejection that asks for a retry', () => {
  const Answer = z.looseObject({ retry: z.looseObject({ generation: z.int().nullable() }).nullable() })
  const headers = { 'content-type': 'application/json' }
  const ask = (runId: string, more: object = {}) =>
    api.ask(`/v1/runs/${runId}/retry`, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify({ rejected: true }),
    })
  const wantedIn = async (runId: string) => (await api.ledger.getRun(runId)).wanted?.operations

  it('is told once, however often somebody asks for a retry of what was rejected', async () => {
    const { one, two } = endings()
    const runId = await playRun(api, [one, two])
    await composeRun(api, runId, { files: [] })
    const reject = (ending: PlayedEnding, reason: string) =>
      review.decide(runId, { decisions: [decision(ending, 'reject', { reason })] })
    await reject(one, 'too long')
    const key = { 'idempotency-key': 'k1' }
    for (const _time of [1, 2]) expect(await (await ask(runId, key)).json()).toMatchObject({ generation: 2 })
    expect(await wantedIn(runId)).toEqual([plannedOperation('one').operationId])
    await playOperations(api, runId, [{ ...one, changes: [] }])
    await composeRun(api, runId, { files: [] })
    const again = await ask(runId, { 'idempotency-key': 'k2' })
    expect(await again.json()).toMatchObject({ error_code: 'INTAKE_007', detail: expect.stringContaining(runId) })
    await reject(two, 'too short')
    expect(await (await ask(runId)).json()).toMatchObject({ generation: 3 })
    expect(await wantedIn(runId)).toEqual([plannedOperation('two').operationId])
  })

  it('made once more with the same word asks for another one when the first has ended, and for none when that has made something else', async () => {
    const { one, two } = endings()
    const runId = await playRun(api, [one, two])
    await composeRun(api, runId, { files: [] })
    const body = { decisions: [decision(one, 'reject', { reason: 'too long', retry: true })] }
    const generationOf = async () => Answer.parse(await review.decide(runId, body)).retry?.generation
    expect(await generationOf()).toBe(2)
    expect(await generationOf()).toBe(2)
    await playOperations(api, runId, [one])
    await composeRun(api, runId, { files: [] })
    expect(await generationOf()).toBe(3)
    await playOperations(api, runId, [{ name: 'one', leaves: 'nothing to do' }])
    await composeRun(api, runId, { files: [] })
    expect(Answer.parse(await review.decide(runId, body)).retry).toBeNull()
  })
})
