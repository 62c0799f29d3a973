import { expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { anEvent, anOutcome, aCost, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'

const test = useOpened(testLedger)
const works = ['a', 'b', 'c', 'd'].map((name) => aPlannedOperation(name))
const nobody = { prepare: 0, slot: 0, model: 0, tool: 0, proof: 0, person: 0 }
const sinceMs = 1_700_000_000_000

async function claimed(runId: RunId, count: number) {
  const { taken } = await test.ledger.dispatch(runId, count)
  const answers = await Promise.all(
    taken.map((job) => test.ledger.claim({ runId, ...job }, `token of ${job.operationId}`)),
  )
  return answers.flatMap((answer) => (answer.kind === 'claimed' ? [answer.attempt] : []))
}

const shownIn = async (runId: RunId) => (await test.ledger.readLive(runId, 10)).shown

it('what each running operation does is shown until its attempt is over, however that ends', async () => {
  const runId = await test.executing(works)
  const attempts = await claimed(runId, 4)
  expect(await test.ledger.readLive(runId, 2)).toMatchObject({
    shown: [{ doing: { kind: 'prepare' } }, { doing: { kind: 'prepare' } }],
    counts: { ...nobody, prepare: 4 },
  })
  const tool = { kind: 'tool', what: 'run_linter', turn: 2, afterTool: false, sinceMs } as const
  for (const attempt of attempts) await test.ledger.append(attempt, 1, { events: [], doing: tool })
  const at = { bundle: 'lint', path: 'src/app.py', attempt: 1, doing: tool }
  expect(await shownIn(runId)).toMatchObject([at, at, at, at])
  expect((await test.ledger.readLive(runId, 10)).counts).toEqual({ ...nobody, tool: 4 })

  const [settles, asks, handsBack, isLost] = attempts
  if (!settles || !asks || !handsBack || !isLost) throw new Error('four attempts')
  await test.ledger.settle(settles, 2, { outcome: anOutcome(), events: [] })
  const question = { text: 'Shall I?', choices: null }
  await test.ledger.suspend(asks, 2, { question, answerWithinMs: 60_000, recordHash: 'r', spent: aCost, events: [] })
  await test.ledger.release(handsBack, 2, { reason: 'drain', events: [] })
  await test.ledger.sweep(runId, 'abandoned')
  expect(await test.ledger.append(isLost, 2, { events: [], doing: tool })).toEqual({ kind: 'lost' })
  const asking = { operationId: asks.operationId, doing: { kind: 'person', request: 'q1' } }
  expect(await test.ledger.readLive(runId, 10)).toMatchObject({ shown: [asking], counts: { ...nobody, person: 1 } })
  expect((await test.ledger.verify(runId)).violations).toEqual([])
})

it('the last minute has what ended and which tokens were used, and the run has them apart', async () => {
  const runId = await test.executing(works)
  const [attempt] = await claimed(runId, 1)
  if (attempt === undefined) throw new Error('an attempt')
  const data = { prompt_tokens: 70, completion_tokens: 5 }
  const told = { events: [anEvent({ event: 'model.responded', data })] }
  await test.ledger.append(attempt, 1, told)
  await test.ledger.append(attempt, 1, told)
  await test.ledger.settle(attempt, 2, { outcome: anOutcome(), events: [] })
  const { lastMinute } = await test.ledger.readLive(runId, 10)
  expect(lastMinute).toEqual({ operations: 1, tokensIn: 70, tokensOut: 5 })
  expect(await test.ledger.getRun(runId)).toMatchObject({ tokensIn: 70, tokensOut: 5, tokens: 75 })
  expect((await test.ledger.readTally(runId)).get('model.responded')).toBe(1)
})

it('a run that nobody knows has none', async () => {
  await expect(test.ledger.readLive('r00000001', 10)).rejects.toMatchObject({ code: 'RUN_001' })
  await expect(test.ledger.readTally('r00000001')).rejects.toMatchObject({ code: 'RUN_001' })
})
