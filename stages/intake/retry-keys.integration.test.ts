import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { Run } from '#domain/run.ts'
import { anOutcome, aPlannedOperation, endRun, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openIdempotencyStore } from './idempotency.ts'
import { type Retry, retryRun } from './retry-run.ts'

const test = useOpened(testLedger)

const [one, other] = [aPlannedOperation('one'), aPlannedOperation('other')]

/** A run whose two operations have failed. */
async function failed(): Promise<Run> {
  const runId = await test.executing([one, other])
  for (const attempt of await test.claimReady(runId)) {
    const outcome = anOutcome({ status: 'failed', errorCode: 'AGENT_004', recordHash: 'r' })
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
  }
  await endRun(test.ledger, runId, 'failed')
  return test.ledger.getRun(runId)
}

/** Returns the generation that the retry began, or the code of its refusal. */
async function retried(run: Run, over: Partial<Retry>): Promise<number | string> {
  const { ledger, redis, namespace } = test
  const deps = { ledger, idempotency: openIdempotencyStore(redis, namespace) }
  const retry = { run, operations: undefined, idempotencyKey: undefined, requestId: 'q', ...over }
  return retryRun(retry, deps).then(
    ({ generation }) => generation,
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  )
}

describe('retries with an Idempotency-Key', () => {
  it('of which two come at once begin one generation, and the other is refused, also when it is sent again', async () => {
    const run = await failed()
    const wanted = [
      { operations: [one.operationId], idempotencyKey: 'A' },
      { operations: [other.operationId], idempotencyKey: 'B' },
    ]
    const answers = await Promise.all(wanted.map((retry) => retried(run, retry)))
    expect(answers.map(String).toSorted()).toEqual(['2', 'RUN_006'])
    const now = await test.ledger.getRun(run.runId)
    const again = await Promise.all(wanted.map((retry) => retried(now, retry)))
    expect(again).toEqual(answers)
  })

  it('stand for one generation when the same comes twice at once', async () => {
    const run = await failed()
    expect(await Promise.all([1, 2].map(() => retried(run, { idempotencyKey: 'C' })))).toEqual([2, 2])
  })
})
