import { describe, expect, it } from 'vitest'
import { newToken, type RunId } from '#domain/ids.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { aCost, anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import type { Attempt } from './attempt.ts'
import { runKeys } from './keys.ts'
import { openLedger } from './ledger.ts'

const test = useOpened(testLedger)
const store = useOpened(testObjects)

const by = { kind: 'human', id: 'ada' } as const

/** Lets all that is ready ask whether the tool may be called. */
async function asking(runId: RunId, tool = 'write'): Promise<Attempt[]> {
  const attempts = await test.claimReady(runId)
  for (const attempt of attempts) await test.ledger.suspend(attempt, 1, about(tool))
  return attempts
}

function about(tool: string, given = '{}') {
  const question = { text: `May ${tool} be called?`, choices: null, call: { tool, arguments: given } }
  return { question, answerWithinMs: 60_000, recordHash: 'the-record', spent: aCost, events: [] }
}

const allowForRun = (requestId: string) =>
  ({ requestId, text: '', verdict: 'allow_for_run', by, command: newToken() }) as const

const statusesOf = async (runId: RunId) => (await test.ledger.listQuestions(runId)).map(({ status }) => status)
const violationsOf = async (runId: RunId) => (await test.ledger.verify(runId)).violations

describe('a tool that is allowed for the run', () => {
  it('is allowed to all that wait for it, in slices, and not to another tool or another bundle', async () => {
    const alike = Array.from({ length: 450 }, (_, index) => aPlannedOperation(`f${index}`))
    const other = aPlannedOperation('other', { bundleHash: 'c'.repeat(64), bundle: 'docstring' })
    const runId = await test.executing([...alike, other])
    const attempts = await asking(runId)
    const [, last] = attempts
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'waiting', counts: { waiting: 451, running: 0 } })
    await test.ledger.resume(runId, allowForRun('q1'))
    expect((await statusesOf(runId)).filter((status) => status === 'answered')).toHaveLength(200)
    expect(await test.ledger.sweep(runId)).toEqual({ left: 1, takenBack: 0 })
    expect(await test.ledger.sweep(runId)).toEqual({ left: 0, takenBack: 0 })
    const open = (await test.ledger.listQuestions(runId)).filter(({ status }) => status === 'open')
    expect(open.map(({ bundle }) => bundle)).toEqual(['docstring'])
    const isAllowed = (attempt: Attempt | undefined, tool: string) => attempt && test.ledger.isAllowed(attempt, tool)
    const ofOther = attempts.find(({ bundle }) => bundle === 'docstring')
    expect([await isAllowed(last, 'write'), await isAllowed(last, 'delete')]).toEqual([true, false])
    expect(await isAllowed(ofOther, 'write')).toBe(false)
    const [resumed] = await test.claimReady(runId)
    expect(resumed?.resumes).toEqual({ recordHash: 'the-record', answer: { verdict: 'allow_for_run' } })
    expect(await violationsOf(runId)).toEqual([])
  }, 60_000)

  it('needs no answer where an attempt asks that had looked before', async () => {
    const runId = await test.executing([aPlannedOperation('first'), aPlannedOperation('second')])
    const [first, second] = await test.claimReady(runId)
    if (first === undefined || second === undefined) throw new Error('nothing was ready')
    await test.ledger.suspend(first, 1, about('write'))
    await test.ledger.resume(runId, allowForRun('q1'))
    await test.ledger.suspend(second, 1, about('write'))
    expect(await test.ledger.listQuestions(runId)).toMatchObject([
      { answer: { verdict: 'allow_for_run', by: 'human/ada' } },
      { answer: { verdict: 'allow_for_run', by: 'human/ada' } },
    ])
    expect(await violationsOf(runId)).toEqual([])
    await test.redis.hset(runKeys(test.namespace, runId).questions, `allowed:${'b'.repeat(64)}:delete`, 'human/eve')
    expect(await violationsOf(runId)).toMatchObject([
      { message: expect.stringContaining('the tool delete is allowed') },
    ])
  })

  it('is another matter than one call, which stays allowed to the attempts after one that was lost', async () => {
    const runId = await test.executing([aPlannedOperation('only')])
    await asking(runId)
    await test.ledger.resume(runId, { ...allowForRun('q1'), verdict: 'allow' })
    const [lost] = await test.claimReady(runId)
    if (lost === undefined) throw new Error('nothing was ready')
    await test.redis.zadd(runKeys(test.namespace, runId).leases, 'XX', 1, lost.operationId)
    await test.ledger.sweep(runId)
    const [next] = await test.claimReady(runId)
    if (next === undefined) throw new Error('nothing was ready')
    expect(next.resumes).toEqual(lost.resumes)
    expect(await test.ledger.isAllowed(next, 'write')).toBe(false)
    await test.ledger.settle(next, 1, { outcome: anOutcome(), events: [] })
    expect(await violationsOf(runId)).toEqual([])
  })

  it('stays shut when the time to answer is over', async () => {
    const runId = await test.executing([aPlannedOperation('first'), aPlannedOperation('late')])
    const [, late] = await asking(runId)
    await test.redis.zadd(runKeys(test.namespace, runId).waiting, 'XX', 1, late?.operationId ?? '')
    await test.ledger.resume(runId, allowForRun('q1'))
    expect(await statusesOf(runId)).toEqual(['answered', 'open'])
    await test.ledger.sweep(runId)
    expect(await statusesOf(runId)).toEqual(['answered', 'expired'])
    expect(await violationsOf(runId)).toEqual([])
  })
})

it('a call of a megabyte is whole in its question and its event, without secrets, and small in Redis', async () => {
  const secret = 'a-configured-password'
  const archive = openEventSegments(store.objects)
  const ledger = openLedger(test.redis, { namespace: test.namespace, archive, redactor: openRedactor([secret]) })
  const runId = await test.executing([aPlannedOperation('only')])
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  const text = 'ß\n'.repeat(300_000)
  await ledger.suspend(attempt, 1, about('write', JSON.stringify({ content: `${text} ${secret}`, lines: [] })))
  const { events, questions } = runKeys(test.namespace, runId)
  expect(JSON.stringify(await test.redis.hgetall(questions)).length).toBeLessThan(1_000)
  expect(JSON.stringify(await test.redis.xrevrange(events, '+', '-', 'COUNT', 2)).length).toBeLessThan(2_000)
  const whole = JSON.stringify({ content: `${text} [secret]`, lines: [] })
  expect((await ledger.listQuestions(runId))[0]?.call).toEqual({ tool: 'write', arguments: whole })
  const told = (await ledger.readEvents(runId, { after: 0, limit: 100 })).find(
    ({ event }) => event === 'human_input.requested',
  )
  expect(told?.data).toMatchObject({ request_id: 'q1', choices: null, call: { tool: 'write', arguments: whole } })
  expect((await ledger.resume(runId, { ...allowForRun('q1'), verdict: 'deny' })).call?.arguments).toBe(whole)
  expect((await ledger.verify(runId)).violations).toEqual([])
})
