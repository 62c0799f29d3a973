import { afterAll, beforeAll, expect, it } from 'vitest'
import { newTraceparent } from '#domain/traceparent.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { indexKeys } from '#store/ledger/keys.ts'
import { openRetention } from '#store/ledger/retention.ts'
import {
  anEvent,
  aNewRun,
  anOutcome,
  aPlannedOperation,
  testLedger,
  type TestLedger,
} from '#testing/open-test-ledger.ts'
import { openIdempotencyStore } from './idempotency.ts'
import { retryRun } from './retry-run.ts'

let test: TestLedger
beforeAll(async () => {
  test = await testLedger()
})
afterAll(() => test.close())

/** Retries a run that has ended; `meanwhile` happens when the retry is there and not accepted yet. */
async function retried(meanwhile: (former: Run) => Promise<unknown>) {
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
        await meanwhile(run)
      },
    },
    producer: { add: async (_queue: string, id: string) => void jobs.push(id) },
    idempotency: openIdempotencyStore(redis, namespace),
  }
  const correlation = { requestId: 'q1', traceparent: newTraceparent(null) }
  const retry = { run, operations: undefined, idempotencyKey: undefined, correlation }
  const answer = await retryRun(retry, deps).catch((error: unknown) => error)
  return { former: run, answer, jobs, stop: (await ledger.getRun(made[0] ?? '')).stop }
}

const refused = {
  answer: expect.objectContaining({ code: 'RUN_001' }),
  jobs: [],
  stop: { kind: 'fault', errorCode: 'RUN_001' },
}

it('ends the retry of a run that is forgotten just while it is accepted', async () => {
  expect(await retried((run) => openRetention(test.redis, test.namespace).forgetRun(run))).toMatchObject(refused)
})

it('ends the retry of a run whose deletion was asked for before, and may have seen no retry', async () => {
  const { deleted } = indexKeys(test.namespace)
  const note = ({ projectId, runId }: Run) => test.redis.zadd(deleted, 1, `${projectId}/${runId}`)
  expect(await retried(note)).toMatchObject(refused)
})

it('keeps a run from being deleted from the moment on at which its retry is there', async () => {
  const errors: unknown[] = []
  const erase = (run: Run) => test.ledger.requestDeletion(run).catch((error: unknown) => errors.push(error))
  const { former, answer, stop } = await retried(erase)
  expect(errors).toMatchObject([{ code: 'RUN_010' }])
  expect([answer, stop]).toMatchObject([{ status: 'queued' }, null])
  expect((await test.ledger.getRun(former.runId)).status).toBe('failed')
})

it('says that mechanical work which was rejected cannot be tried again, and names it', async () => {
  const { ledger, redis, namespace } = test
  const fixed = aPlannedOperation('fixed', { work: 'mechanical' })
  const runId = await test.executing([fixed])
  for (const attempt of await test.claimReady(runId)) {
    await ledger.settle(attempt, 1, { outcome: anOutcome({ changeSetIds: ['c1'], recordHash: 'r' }), events: [] })
  }
  await ledger.relayResults(runId)
  const events = [anEvent({ event: 'run.completed', phase: 'review' })]
  await ledger.move(runId, { from: [{ status: 'running' }], to: { status: 'completed' }, command: 'stop', events })
  const { operationId, node, bundle: agent } = fixed
  const made = { changeSetId: 'c1', before: 'pending', runId, operationId, recordHash: 'r', node, agent } as const
  const decisions = [{ ...made, verdict: 'rejected', reason: 'keep the order' } as const]
  await ledger.decide(runId, { last: 0, decisions, by: { kind: 'human', id: 't1' } })
  const retry = { run: await ledger.getRun(runId), rejected: true, operations: undefined, idempotencyKey: undefined }
  const correlation = { requestId: 'q1', traceparent: newTraceparent(null) }
  const deps = { ledger, producer: { add: async () => {} }, idempotency: openIdempotencyStore(redis, namespace) }
  await expect(retryRun({ ...retry, correlation }, deps)).rejects.toMatchObject({
    code: 'INTAKE_007',
    message: expect.stringContaining(`is mechanical work: ${agent} ${node.path}. It cannot be tried again`),
  })
})
