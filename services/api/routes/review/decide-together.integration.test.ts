import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { FileChange } from '#domain/change-set.ts'
import { getChangeSets } from '#store/objects/stored-records.ts'
import { RunId } from '#domain/ids.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { openTestApi, type TestApi } from '../../app.fixture.ts'
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
  const Accepted = z.looseObject({ run_id: RunId })
  const Answer = z.looseObject({ retry: z.looseObject({ run_id: z.string().nullable() }).nullable() })

  it('is not tried again by a retry that somebody starts beside the one that started by itself', async () => {
    const { one, two } = endings()
    const runId = await playRun(api, [one, two])
    await composeRun(api, runId, { files: [] })
    const reject = (ending: PlayedEnding, more: object = {}) =>
      review.decide(runId, { decisions: [decision(ending, 'reject', { reason: 'too long', ...more })] })
    const { retry } = Answer.parse(await reject(one, { retry: true }))
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ rejected: true })
    const refused = await api.ask(`/v1/runs/${runId}/retry`, { method: 'POST', headers, body })
    expect(await refused.json()).toMatchObject({
      error_code: 'INTAKE_007',
      detail: expect.stringContaining(retry?.run_id ?? 'none'),
    })
    await reject(two)
    const beside = await api.ledger.getRun(await review.retry(runId, { rejected: true }))
    expect(beside.request.operations).toEqual([plannedOperation('two').operationId])
  })

  it('is told once, however often somebody asks for a retry of what was rejected', async () => {
    const { one, two } = endings()
    const runId = await playRun(api, [one, two])
    await composeRun(api, runId, { files: [] })
    const reject = (ending: PlayedEnding, reason: string) =>
      review.decide(runId, { decisions: [decision(ending, 'reject', { reason })] })
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k1' }
    const ask = (more: object = {}) =>
      api.ask(`/v1/runs/${runId}/retry`, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify({ rejected: true }),
      })
    await reject(one, 'too long')
    const first = Accepted.parse(await (await ask()).json()).run_id
    expect(Accepted.parse(await (await ask()).json()).run_id).toBe(first)
    const again = await ask({ 'idempotency-key': 'k2' })
    expect(await again.json()).toMatchObject({ error_code: 'INTAKE_007', detail: expect.stringContaining(first) })
    await reject(two, 'too short')
    const second = await api.ledger.getRun(await review.retry(runId, { rejected: true }))
    expect(second.request.operations).toEqual([plannedOperation('two').operationId])
    await reject(one, 'still too long')
    const third = await api.ledger.getRun(await review.retry(runId, { rejected: true }))
    expect(third.request.operations).toEqual([plannedOperation('one').operationId])
  })

  it('made once more with the same word asks for another one when the first has ended, and for none when that has made something else', async () => {
    const { one, two } = endings()
    const runId = await playRun(api, [one, two])
    await composeRun(api, runId, { files: [] })
    const body = { decisions: [decision(one, 'reject', { reason: 'too long', retry: true })] }
    const retryOf = async () => Answer.parse(await review.decide(runId, body)).retry?.run_id
    const first = (await retryOf()) ?? ''
    expect(await retryOf()).toBe(first)
    await playOperations(api, first, [one])
    await composeRun(api, first, { files: [] })
    const second = (await retryOf()) ?? ''
    expect((await api.ledger.getRun(second)).request.retryOf).toBe(first)
    expect(await retryOf()).toBe(second)
    await playOperations(api, second, [{ name: 'one', leaves: 'nothing to do' }])
    await composeRun(api, second, { files: [] })
    expect(Answer.parse(await review.decide(runId, body)).retry).toBeNull()
  })
})
