import { expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { openRetention } from '#store/ledger/retention.ts'
import { aNewRun, anOutcome, aPlannedOperation, endRun, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openIdempotencyStore } from './idempotency.ts'
import { type Retry, retryRun } from './retry-run.ts'

const test = useOpened(testLedger)

const operation = aPlannedOperation('one')

/** A run whose operation has failed. */
async function failed(planned = operation): Promise<RunId> {
  const runId = await test.executing([planned])
  for (const attempt of await test.claimReady(runId)) {
    const outcome = anOutcome({ status: 'failed', errorCode: 'AGENT_004', changeSetIds: ['c1'], recordHash: 'r' })
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
  }
  return runId
}

async function retried(runId: RunId, asked: Partial<Retry> = {}): Promise<unknown> {
  const { ledger, redis, namespace } = test
  const deps = { ledger, idempotency: openIdempotencyStore(redis, namespace) }
  const run = await ledger.getRun(runId)
  const retry = { run, operations: undefined, idempotencyKey: undefined, requestId: 'q1', ...asked }
  return retryRun(retry, deps).catch((error: { code?: string }) => error.code)
}

it('reopens a run that has ended, and no other one', async () => {
  const runId = await failed()
  expect(await retried(runId)).toBe('RUN_006')
  await endRun(test.ledger, runId, 'failed')
  expect(await retried(runId, { codes: ['AGENT_002'] })).toBe('INTAKE_007')
  expect(await retried(runId, { operations: ['o0000000000000000'] })).toBe('RUN_004')
  expect(await retried(runId, { codes: ['AGENT_004'] })).toEqual({ generation: 2, status: 'running' })
  expect(await test.ledger.getRun(runId)).toMatchObject({ wanted: { codes: ['AGENT_004'] }, errorCode: null })
  expect(await retried(runId)).toBe('RUN_006')
  await openRetention(test.redis, test.namespace).forgetRun(await test.ledger.getRun(runId))
  expect((await test.ledger.getRun(runId)).status).toBe('running')
})

it('asks again for a generation that ended before it was planned, and begins one once for a key', async () => {
  const runId = await failed()
  await endRun(test.ledger, runId, 'failed')
  const first = { operations: [operation.operationId], idempotencyKey: 'k1' }
  expect(await retried(runId, first)).toMatchObject({ generation: 2 })
  expect(await retried(runId, first)).toMatchObject({ generation: 2 })
  await endRun(test.ledger, runId, 'failed')
  expect(await retried(runId, first)).toMatchObject({ generation: 2 })
  expect(await retried(runId, { idempotencyKey: 'k1' })).toBe('INTAKE_005')
  expect(await retried(runId)).toMatchObject({ generation: 3 })
  expect((await test.ledger.getRun(runId)).wanted).toEqual({ operations: [operation.operationId] })
})

it('refuses to name operations of a run that ended before all of it was planned, and plans the rest with all that did not end well', async () => {
  const { ledger } = test
  const run = aNewRun()
  const { runId } = run
  await ledger.createRun(run)
  await ledger.plan(runId, { slice: 0, operations: [operation], last: false })
  await ledger.cancel(runId, { reason: 'changed my mind', origin: { kind: 'api', id: 'q1' } })
  await ledger.endSlice(runId, 0)
  await endRun(ledger, runId, 'cancelled')
  expect(await retried(runId, { operations: [operation.operationId] })).toBe('RUN_006')
  expect(await retried(runId)).toMatchObject({ generation: 2 })
  expect((await ledger.getRun(runId)).wanted).toEqual({ unplanned: true })
})

it('does not reopen a run that is deleted just then', async () => {
  const runId = await failed()
  await endRun(test.ledger, runId, 'failed')
  const run = await test.ledger.getRun(runId)
  await test.ledger.requestDeletion(run)
  const { ledger, redis, namespace } = test
  const deps = { ledger, idempotency: openIdempotencyStore(redis, namespace) }
  const retry = { run, operations: undefined, idempotencyKey: undefined, requestId: 'q1' }
  await expect(retryRun(retry, deps)).rejects.toMatchObject({ code: 'RUN_001' })
})

it('says that mechanical work which was rejected cannot be tried again, and names it', async () => {
  const { ledger, redis, namespace } = test
  const fixed = aPlannedOperation('fixed', { work: 'mechanical' })
  const runId = await test.executing([fixed])
  for (const attempt of await test.claimReady(runId)) {
    await ledger.settle(attempt, 1, { outcome: anOutcome({ changeSetIds: ['c1'], recordHash: 'r' }), events: [] })
  }
  await endRun(ledger, runId)
  const { operationId, node, bundle: agent } = fixed
  const made = { changeSetId: 'c1', before: 'pending', operationId, recordHash: 'r', node, agent } as const
  const decisions = [{ ...made, verdict: 'rejected', reason: 'keep the order' } as const]
  await ledger.decide(runId, { last: 0, decisions, by: { kind: 'human', id: 't1' } })
  const run = await ledger.getRun(runId)
  const deps = { ledger, idempotency: openIdempotencyStore(redis, namespace) }
  const retry = { run, rejected: true, operations: undefined, idempotencyKey: undefined, requestId: 'q1' }
  await expect(retryRun(retry, deps)).rejects.toMatchObject({
    code: 'INTAKE_007',
    message: expect.stringContaining(`is mechanical work: ${agent} ${node.path}. It cannot be tried again`),
  })
})
