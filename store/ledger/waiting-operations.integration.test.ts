import { describe, expect, it } from 'vitest'
import { newToken, type RunId } from '#domain/ids.ts'
import { maxAnswerCharacters } from '#domain/question.ts'
import { aCost, anEvent, anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import type { Attempt } from './attempt.ts'
import type { Suspension } from './end-attempt.ts'
import { redisNowMs } from './store.ts'

const test = useOpened(testLedger)

const day = 86_400_000
const by = { kind: 'human', id: 'ada' } as const
const root = aPlannedOperation('root')
const child = aPlannedOperation('child', {}, [root])

function asking(over: Partial<Suspension> = {}): Suspension {
  const question = { text: 'May I rename greet?', choices: ['yes', 'no'] }
  return { question, answerWithinMs: day, recordHash: 'the-record', spent: aCost, events: [anEvent()], ...over }
}

function answering(text: string, over: { requestId?: string; command?: string } = {}) {
  return { requestId: 'q1', text, by, command: newToken(), ...over }
}

/** The only attempt of a run of these operations that is ready at first. */
async function begun(operations = [root, child]): Promise<Attempt> {
  const runId = await test.executing(operations)
  return nextAttempt(runId)
}

async function nextAttempt(runId: RunId): Promise<Attempt> {
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  return attempt
}

async function suspended(operations = [root, child], over: Partial<Suspension> = {}): Promise<Attempt> {
  const attempt = await begun(operations)
  expect(await test.ledger.suspend(attempt, 1, asking(over))).toEqual({ kind: 'suspended' })
  return attempt
}

/** As if the time to answer were over. */
async function letTimePass({ runId, operationId }: Attempt): Promise<void> {
  await test.redis.zadd(`${test.namespace}:{${runId}}:waiting`, 'XX', 1, operationId)
}

async function eventsFrom(runId: RunId, after = 2): Promise<string[]> {
  return (await test.ledger.readEvents(runId, { after, limit: 1_000 })).map(({ event }) => event)
}

async function statusOf({ runId, operationId }: Pick<Attempt, 'runId' | 'operationId'>): Promise<string> {
  return (await test.ledger.getOperation(runId, operationId)).status
}

const violationsOf = async (runId: RunId) => (await test.ledger.verify(runId)).violations

describe('an operation that waits for a person', () => {
  it('is resumed again from the same place when the attempt that went on is lost or handed back', async () => {
    const { runId, operationId } = await suspended()
    const { startedAt } = await test.ledger.getOperation(runId, operationId)
    await until(() => redisNowMs(test.redis), { holds: (nowMs) => nowMs > (startedAt ?? Infinity) })
    await test.ledger.resume(runId, answering('no'))
    const lost = await nextAttempt(runId)
    await test.redis.zadd(`${test.namespace}:{${runId}}:leases`, 'XX', 1, operationId)
    await test.ledger.sweep(runId)
    const again = await nextAttempt(runId)
    await test.ledger.release(again, 1, { reason: 'drain', events: [] })
    const third = await nextAttempt(runId)
    expect([lost, again, third].map(({ resumes }) => resumes?.answer)).toEqual(['no', 'no', 'no'])
    await test.ledger.settle(third, 1, { outcome: anOutcome(), events: [] })
    // Its prompts are those of the first attempt.
    expect(await test.ledger.endedOperations(runId, [operationId])).toMatchObject([{ begunAt: startedAt }])
    expect(await violationsOf(runId)).toEqual([])
  })

  it('may hold text of any kind', async () => {
    const whole = `quote " slash / \\ wide \u{1f600} ${'x'.repeat(2_900)}`
    const text = `nul \0 half \ud800 ${whole}`
    const { runId } = await suspended([root], { question: { text, choices: null } })
    const answer = `${whole}${'y'.repeat(9_000)}`
    const question = await test.ledger.resume(runId, answering(answer))
    expect(question.text).toBe(text.toWellFormed())
    expect(question.answer?.text).toBe(answer)
    expect((await nextAttempt(runId)).resumes?.answer).toBe(answer)
    const [inEvent] = (await test.ledger.readEvents(runId, { after: 9, limit: 1 })).map(({ data }) => data['answer'])
    expect(inEvent).toBe(answer)
  })
})

it('a question about the run may hold half a character', async () => {
  const runId = await test.executing([root])
  const question = { after: 0, bundle: 'watcher', text: 'What now? \uD83D', choices: ['yes'] }
  const asked = { token: 'w', version: 1, state: {}, events: [anEvent()], questions: [question] }
  expect(await test.ledger.keepWatch(runId, asked)).toBe('kept')
})

describe('an answer', () => {
  it.each([
    ['that is none of the choices', answering('perhaps'), 'ASK_005'],
    ['that is empty', answering('  '), 'ASK_005'],
    ['that has half of a character', answering('yes \ud83d'), 'ASK_005'],
    ['that is too long', answering('x'.repeat(maxAnswerCharacters + 1)), 'ASK_005'],
    ['to a question nobody asked', answering('yes', { requestId: 'q2' }), 'ASK_001'],
    ['to what is no question', answering('yes', { requestId: 'q1:end' }), 'ASK_001'],
  ])('%s is refused', async (_what, answer, code) => {
    const { runId } = await suspended()
    await expect(test.ledger.resume(runId, answer)).rejects.toMatchObject({ code })
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'waiting' })
  })

  it('of an unknown run is refused', async () => {
    await expect(test.ledger.resume('r00000000', answering('yes'))).rejects.toMatchObject({ code: 'RUN_001' })
  })

  it('to a stopped run is refused', async () => {
    const { runId } = await suspended()
    await test.ledger.cancel(runId, { reason: 'enough', origin: by })
    await expect(test.ledger.resume(runId, answering('yes'))).rejects.toMatchObject({ code: 'RUN_007' })
  })

  it('past its time is refused, before and after the sweeper has seen it', async () => {
    const attempt = await suspended()
    await letTimePass(attempt)
    await expect(test.ledger.resume(attempt.runId, answering('yes'))).rejects.toMatchObject({ code: 'ASK_003' })
    await test.ledger.sweep(attempt.runId)
    await expect(test.ledger.resume(attempt.runId, answering('yes'))).rejects.toMatchObject({ code: 'ASK_003' })
  })
})

describe('a question nobody answers', () => {
  it('ends its operation as blocked, and what waits for that is skipped', async () => {
    const attempt = await suspended()
    const { runId, operationId } = attempt
    await letTimePass(attempt)
    expect(await test.ledger.sweep(runId)).toEqual({ left: 0, takenBack: 0 })
    expect(await test.ledger.getOperation(runId, operationId)).toMatchObject({
      status: 'blocked',
      waitsFor: null,
      suspensionHash: 'the-record',
      outcome: { errorCode: 'ASK_003', phase: 'execution', reason: 'q1 was not answered in time', ...aCost },
    })
    expect(await statusOf({ runId, operationId: child.operationId })).toBe('skipped')
    expect(await test.ledger.listQuestions(runId)).toMatchObject([{ status: 'expired', answer: null }])
    expect(await eventsFrom(runId, 9)).toEqual(['operation.blocked', 'operation.ended', 'operation.skipped'])
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'running', phase: 'review' })
    expect(await violationsOf(runId)).toEqual([])
  })
})
