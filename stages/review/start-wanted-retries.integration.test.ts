import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newRunId, type OperationId, repeatedOperationId, type RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { NewDecision } from '#store/ledger/decisions.ts'
import { redisNowMs } from '#store/ledger/store.ts'
import { anEvent, anOutcome, aPlannedOperation, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { repeatable } from './rejected-operations.ts'
import { requestOfRetry, startRetry } from './start-retry.ts'
import { startWantedRetries, type StartWantedDeps } from './start-wanted-retries.ts'
import { newestRetry, wantedByDecisions } from './wanted-by-decisions.ts'

let test: TestLedger
beforeAll(async () => {
  test = await testLedger()
})
afterAll(() => test.close())

const origin = { kind: 'discovery', id: 'test' } as const
const person = { kind: 'human', id: 't1' } as const
const one = aPlannedOperation('one')
const other = aPlannedOperation('other')
const fixed = aPlannedOperation('fixed', { work: 'mechanical' })
const setOf = ({ operationId }: Pick<PlannedOperation, 'operationId'>, take = 1) => `c${take}${operationId.slice(1, 8)}`

/** A run whose operations have each made a change set. */
async function changed(operations: readonly PlannedOperation[] = [one, other, fixed]): Promise<RunId> {
  const runId = await test.executing(operations)
  for (const attempt of await test.claimReady(runId)) {
    const outcome = anOutcome({ changeSetIds: [setOf(attempt)], recordHash: 'r' })
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
  }
  return runId
}

async function ended(runId: RunId, status: 'completed' | 'failed' | 'cancelled' = 'completed'): Promise<void> {
  await test.ledger.relayResults(runId)
  const from = [{ status: 'running' }, { status: 'queued' }] as const
  const events = [anEvent({ event: `run.${status}`, phase: 'review' })]
  expect(await test.ledger.move(runId, { from, to: { status }, command: 'stop', events })).toBe('moved')
}

type Said = Partial<Pick<NewDecision, 'verdict' | 'reason'>> & { retry?: RunId | undefined; take?: number }

async function decided(root: RunId, operation: PlannedOperation, said: Said = {}): Promise<void> {
  const { last, byChangeSet } = await test.ledger.readDecisions(root)
  const { operationId, node, bundle: agent } = operation
  const changeSetId = setOf(operation, said.take)
  const before = byChangeSet.get(changeSetId)?.verdict ?? 'pending'
  const made = { changeSetId, before, runId: root, operationId, recordHash: 'r', node, agent }
  const { verdict = 'rejected', reason = 'too long', retry } = said
  const decision = { ...made, verdict, reason, ...(retry === undefined ? {} : { retry }) }
  expect(await test.ledger.decide(root, { last, decisions: [decision], by: person })).toHaveLength(1)
}

const deps = (over: Partial<StartWantedDeps['ledger']> = {}): StartWantedDeps => ({
  ledger: { ...test.ledger, ...over },
  origin,
})
const start = (root: RunId, over: Partial<StartWantedDeps['ledger']> = {}) => startWantedRetries(root, deps(over))
const statesOf = async (root: RunId) =>
  (await wantedByDecisions(await test.ledger.readDecisions(root), test.ledger)).map(({ state }) => state)
const retriesOf = async (runId: RunId) => {
  const made: { runId: RunId; operations: OperationId[] }[] = []
  for (const id of (await test.ledger.getRun(runId)).retries) {
    const { request } = await test.ledger.getRun(id)
    made.push({ runId: id, operations: (request.operations ?? []).toSorted() })
  }
  return made
}
/** Of all that did not end well. It has ended, too. */
async function retriedByHand(runId: RunId): Promise<RunId> {
  const retry = newRunId(Date.now())
  const run = await test.ledger.getRun(runId)
  await test.ledger.noteRetry(runId, { retry, how: 'asked' })
  await startRetry(run, { runId: retry, request: requestOfRetry(run), origin, traceparent: null }, deps())
  await ended(retry)
  return retry
}
const idsOf = (...operations: readonly PlannedOperation[]) =>
  operations.map(({ operationId }) => operationId).toSorted()

describe('a retry that was asked for beside a rejection', () => {
  it('waits for the end of the run, and is one for all that was rejected', async () => {
    const run = await changed()
    await decided(run, one, { retry: run })
    await decided(run, other, { retry: run, reason: 'says nothing' })
    await start(run)
    expect(await statesOf(run)).toEqual(['waiting', 'waiting'])
    expect(await retriesOf(run)).toEqual([])
    await ended(run)
    await start(run)
    expect(await statesOf(run)).toEqual(['started', 'started'])
    const [retry, ...more] = await retriesOf(run)
    expect(more).toEqual([])
    expect(retry?.operations).toEqual(idsOf(one, other))
    const made = await test.ledger.getRun(retry?.runId ?? '')
    expect(made).toMatchObject({ status: 'queued', request: { retryOf: run } })
    const [accepted] = await test.ledger.readEvents(made.runId, { after: 0, limit: 1 })
    expect(accepted).toMatchObject({ event: 'run.accepted', origin, data: { retry_of: run } })
    expect((await test.ledger.verify(run)).violations).toEqual([])
  })

  it('is of what is still rejected then, and of nothing else', async () => {
    const run = await changed()
    for (const operation of [one, other, fixed]) await decided(run, operation, { retry: run })
    await decided(run, one, { verdict: 'accepted', reason: null })
    await decided(run, other, { verdict: 'pending', reason: null })
    await ended(run)
    expect(await start(run)).toMatchObject([{ state: 'void', decision: { operationId: fixed.operationId } }])
    expect(await retriesOf(run)).toEqual([])
  })

  it('is made once by many who start it, also if some of them die after any step', async () => {
    const run = await changed()
    await decided(run, one, { retry: run })
    await ended(run)
    const dies = () => Promise.reject(new Error('killed'))
    await expect(start(run, { createRun: dies })).rejects.toThrow('killed')
    await expect(start(run, { noteRetry: dies })).rejects.toThrow('killed')
    await Promise.all(Array.from({ length: 8 }, () => start(run)))
    expect(await retriesOf(run)).toHaveLength(1)
    const late = await test.ledger.getRun(run)
    expect(await test.ledger.claimRetry(run, { retry: 'r0late00001', seen: late.retries.slice(0, 0) })).toBe(
      late.retries[0],
    )
  })

  it('is not made by somebody who looked before another one was made and noted', async () => {
    const run = await changed()
    await decided(run, one, { retry: run })
    await ended(run)
    const stale = await test.ledger.getRun(run)
    await start(run)
    expect(await test.ledger.claimRetry(run, { retry: 'r0late00002', seen: stale.retries })).toBe('changed')
  })

  it('waits for the end of a retry that runs already, and retries that', async () => {
    const run = await changed()
    await decided(run, one, { retry: run })
    await ended(run)
    await start(run)
    const [first] = await retriesOf(run)
    await decided(run, other, { retry: run })
    await start(run)
    expect(await statesOf(run)).toEqual(['started', 'waiting'])
    await ended(first?.runId ?? '', 'failed')
    await start(run)
    expect(await retriesOf(run)).toHaveLength(1)
    expect(await retriesOf(first?.runId ?? '')).toMatchObject([{ operations: idsOf(other) }])
    const newest = await newestRetry(await test.ledger.getRun(run), test.ledger)
    expect(newest.request.retryOf).toBe(first?.runId)
  })

  it('is not made again after somebody has retried the same run, or one between, for something else', async () => {
    const run = await changed()
    await decided(run, one, { retry: run })
    await ended(run)
    await start(run)
    const [first] = await retriesOf(run)
    await ended(first?.runId ?? '')
    await decided(run, other, { retry: run })
    await start(run)
    const [second] = await retriesOf(first?.runId ?? '')
    await ended(second?.runId ?? '')
    const asked = await retriedByHand(run)
    await start(run)
    expect(await statesOf(run)).toEqual(['started', 'started'])
    expect(await retriesOf(asked)).toEqual([])
    await decided(run, other, { retry: run, reason: 'still too long' })
    await start(run)
    expect(await retriesOf(asked)).toMatchObject([{ operations: idsOf(other) }])
  })

  it('is made of what was said while a retry worked on it, whatever that retry has made, and not of what it was told', async () => {
    const operations = ['same', 'different', 'failed', 'told'].map((name) => aPlannedOperation(name))
    const [same, different, failed, told] = operations
    if (same === undefined || different === undefined || failed === undefined || told === undefined) throw new Error()
    const run = await changed(operations)
    await ended(run)
    const retry = await test.executing(operations, { retryOf: run, operations: idsOf(...operations) })
    await test.ledger.noteRetry(run, { retry, how: 'asked' })
    await decided(run, told, { retry: run })
    const saidAt = (await test.ledger.readDecisions(run)).byChangeSet.get(setOf(told))?.at ?? Infinity
    await until(() => redisNowMs(test.redis), { holds: (nowMs) => nowMs > saidAt })
    const attempts = await test.claimReady(retry)
    for (const operation of [same, different, failed]) await decided(run, operation, { retry: run })
    for (const attempt of attempts) {
      const changeSetIds = [setOf(attempt, attempt.operationId === same.operationId ? 1 : 2)]
      const isFailed = attempt.operationId === failed.operationId
      const made = isFailed ? { status: 'failed' as const, errorCode: 'AGENT_004' } : { changeSetIds, recordHash: 'r' }
      await test.ledger.settle(attempt, 1, { outcome: anOutcome(made), events: [] })
    }
    await ended(retry)
    await start(run)
    expect(await retriesOf(retry)).toMatchObject([{ operations: idsOf(same, different, failed) }])
    expect((await statesOf(run)).toSorted()).toEqual(['started', 'started', 'started', 'void'])
  })

  it('does not follow the end of a run that was cancelled, unless it is asked for after that', async () => {
    const run = await changed([one, other])
    await decided(run, one, { retry: run })
    await test.ledger.cancel(run, { reason: 'enough', origin: person })
    await ended(run, 'cancelled')
    await start(run)
    expect(await statesOf(run)).toEqual(['void'])
    await decided(run, other, { retry: run })
    await start(run)
    expect(await retriesOf(run)).toMatchObject([{ operations: idsOf(other) }])
  })

  it('knows that a retry has tried the work again of what had run twice because it collided', async () => {
    const run = await changed([one, other])
    const repeats = { operationId: one.operationId, changeSetIds: [setOf(one)] }
    const again = { ...one, operationId: repeatedOperationId(one.operationId), repeats }
    const event = anEvent({ event: 'operations.repeated', phase: 'review' })
    expect(await test.ledger.planAgain(run, { operations: [again], event })).toBe('planned')
    const [attempt] = await test.claimReady(run)
    if (attempt === undefined) throw new Error('nothing was ready')
    const outcome = anOutcome({ changeSetIds: [setOf(again)], recordHash: 'r' })
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
    await decided(run, again)
    const rejected = [...(await test.ledger.readDecisions(run)).byChangeSet.values()]
    const former = await test.ledger.getRun(run)
    expect(await repeatable([former], rejected, test.ledger)).toHaveLength(1)
    const retry = await test.executing([one], { retryOf: run })
    const [tried] = await test.claimReady(retry)
    if (tried === undefined) throw new Error('nothing was ready')
    await test.ledger.settle(tried, 1, { outcome: anOutcome(), events: [] })
    expect(await repeatable([await test.ledger.getRun(retry), former], rejected, test.ledger)).toEqual([])
  })

  it('waits for a stack with the kind of model that the run was begun with', async () => {
    const run = await test.executing([one], { labels: { 'remora.model': 'rehearsal' } })
    const [attempt] = await test.claimReady(run)
    if (attempt === undefined) throw new Error('nothing was ready')
    const outcome = anOutcome({ changeSetIds: [setOf(one)], recordHash: 'r' })
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
    await decided(run, one, { retry: run })
    await ended(run)
    await startWantedRetries(run, { ...deps(), modelKind: 'servers' })
    expect(await statesOf(run)).toEqual(['waiting'])
    await startWantedRetries(run, { ...deps(), modelKind: 'rehearsal' })
    expect(await statesOf(run)).toEqual(['started'])
  })
})
