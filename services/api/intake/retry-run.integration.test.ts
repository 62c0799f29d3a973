import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { openRetention } from '#ledger/retention.ts'
import { anEvent, aNewRun, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { openIdempotencyStore } from './idempotency.ts'
import { retryRun } from './retry-run.ts'

let test: TestLedger
beforeAll(async () => {
  test = await testLedger()
})
afterAll(() => test.close())

it('ends the retry of a run that is forgotten just while it is accepted', async () => {
  const { ledger, redis, namespace } = test
  const former = aNewRun()
  await ledger.createRun(former)
  const events = [anEvent({ event: 'run.failed', phase: 'snapshot' })]
  const to = { status: 'failed' } as const
  await ledger.move(former.runId, { from: [{ status: 'queued' }], to, command: 'end', events })
  const run = await ledger.getRun(former.runId)
  const made: RunId[] = []
  const jobs: string[] = []
  const deps = {
    ledger: {
      ...ledger,
      createRun: async (retry: Parameters<typeof ledger.createRun>[0]) => {
        await ledger.createRun(retry)
        made.push(retry.runId)
        await openRetention(redis, namespace).forgetRun(run)
      },
    },
    producer: { add: async (_queue: string, id: string) => void jobs.push(id) },
    idempotency: openIdempotencyStore(redis, namespace),
  }
  const correlation = { requestId: 'q1', traceparent: null }
  const retry = { run, operations: undefined, idempotencyKey: undefined, correlation }
  await expect(retryRun(retry, deps)).rejects.toMatchObject({ code: 'RUN_001' })
  expect(jobs).toEqual([])
  expect((await ledger.getRun(made[0] ?? '')).stop).toMatchObject({ kind: 'fault', errorCode: 'RUN_001' })
})
