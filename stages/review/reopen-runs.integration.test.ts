import { describe, expect, it } from 'vitest'
import type { OperationId, RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { NewDecision } from '#store/ledger/decisions.ts'
import { redisNowMs } from '#store/ledger/store.ts'
import { anEvent, anOutcome, aPlannedOperation, endRun, planReopened, testLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { rejectedWork } from './rejected-work.ts'
import { startWantedRetries } from './reopen-runs.ts'

const test = useOpened(testLedger)

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

const ended = (runId: RunId, status?: 'failed' | 'cancelled') => endRun(test.ledger, runId, status)

type Said = Partial<Pick<NewDecision, 'verdict' | 'reason' | 'retry'>> & { take?: number }

async function decided(
  runId: RunId,
  operation: PlannedOperation,
  { take, verdict = 'rejected', reason = 'too long', retry }: Said = {},
): Promise<void> {
  const { last, byChangeSet } = await test.ledger.readDecisions(runId)
  const { operationId, node, bundle: agent } = operation
  const changeSetId = setOf(operation, take)
  const before = byChangeSet.get(changeSetId)?.verdict ?? 'pending'
  const made = { changeSetId, before, operationId, recordHash: 'r', node, agent }
  const decision = { ...made, verdict, reason, ...(retry && { retry }) }
  expect(await test.ledger.decide(runId, { last, decisions: [decision], by: person })).toHaveLength(1)
}

const start = async (runId: RunId, modelKind?: 'servers' | 'rehearsal') => {
  const { run, wanted } = await startWantedRetries(runId, { ledger: test.ledger, origin, modelKind })
  return {
    generation: run.generation,
    states: wanted.map(({ state }) => state),
    wanted: run.wanted?.operations?.toSorted(),
  }
}
const idsOf = (...operations: readonly PlannedOperation[]): OperationId[] =>
  operations.map(({ operationId }) => operationId).toSorted()
/** Lets the next moment of Redis' clock come. */
async function laterThanSaid(runId: RunId): Promise<void> {
  const all = [...(await test.ledger.readDecisions(runId)).byChangeSet.values()]
  const saidAt = Math.max(...all.map(({ at }) => at))
  await until(() => redisNowMs(test.redis), { holds: (nowMs) => nowMs > saidAt })
}

describe('a retry that was asked for beside a rejection', () => {
  it('waits for the end of the run, and is one generation for all that was rejected', async () => {
    const run = await changed()
    await decided(run, one, { retry: true })
    await decided(run, other, { retry: true, reason: 'says nothing' })
    expect(await start(run)).toMatchObject({ generation: 1, states: ['waiting', 'waiting'] })
    await ended(run)
    const started = { generation: 2, states: ['started', 'started'], wanted: idsOf(one, other) }
    expect(await start(run)).toEqual(started)
    expect(await start(run)).toEqual(started)
    expect(await test.ledger.getRun(run)).toMatchObject({ status: 'running', phase: 'discovery', endedAt: null })
    const reopened = (await test.ledger.readEvents(run, { after: 0, limit: 100 })).at(-1)
    expect(reopened).toMatchObject({ event: 'run.reopened', origin, data: { generation: 2, operations: 2 } })
    expect((await test.ledger.verify(run)).violations).toEqual([])
  })

  it('is of what is still rejected then, and of nothing else', async () => {
    const run = await changed()
    for (const operation of [one, other, fixed]) await decided(run, operation, { retry: true })
    await decided(run, one, { verdict: 'accepted', reason: null })
    await decided(run, other, { verdict: 'pending', reason: null })
    await ended(run)
    expect(await start(run)).toEqual({ generation: 1, states: ['void'], wanted: undefined })
  })

  it('is made once by many who start it', async () => {
    const run = await changed()
    await decided(run, one, { retry: true })
    await ended(run)
    await Promise.all(Array.from({ length: 8 }, () => start(run)))
    expect((await test.ledger.getRun(run)).generation).toBe(2)
  })

  it('waits for the end of a generation that runs already, and is not made again after its own has failed', async () => {
    const run = await changed()
    await decided(run, one, { retry: true })
    await ended(run)
    await start(run)
    await decided(run, other, { retry: true })
    expect(await start(run)).toMatchObject({ generation: 2, states: ['started', 'waiting'] })
    await ended(run, 'failed')
    expect(await start(run)).toMatchObject({ generation: 3, wanted: idsOf(other) })
  })

  it('is made of what was said while a generation worked on it, unless that has made it anew, and not of what it was told', async () => {
    const operations = ['same', 'different', 'failed', 'told'].map((name) => aPlannedOperation(name))
    const [same, different, failed, told] = operations
    if (same === undefined || different === undefined || failed === undefined || told === undefined) throw new Error()
    const run = await changed(operations)
    await test.reopened(run, operations)
    await decided(run, told, { retry: true })
    await laterThanSaid(run)
    const attempts = await test.claimReady(run)
    for (const operation of [same, different, failed]) await decided(run, operation, { retry: true })
    for (const attempt of attempts) {
      const { operationId: work = '' } = attempt.repeats ?? {}
      const changeSetIds = [setOf({ operationId: work }, work === same.operationId ? 1 : 2)]
      const isFailed = work === failed.operationId
      const made = isFailed ? { status: 'failed' as const, errorCode: 'AGENT_004' } : { changeSetIds, recordHash: 'r' }
      await test.ledger.settle(attempt, 1, { outcome: anOutcome(made), events: [] })
    }
    await ended(run)
    const { generation, wanted } = await start(run)
    expect([generation, wanted]).toEqual([3, idsOf(same, different, failed)])
  })

  it('does not follow the end of a run that was cancelled, unless it is asked for after that', async () => {
    const run = await changed([one, other])
    await decided(run, one, { retry: true })
    await test.ledger.cancel(run, { reason: 'enough', origin: person })
    await ended(run, 'cancelled')
    await laterThanSaid(run)
    expect(await start(run)).toMatchObject({ generation: 1, states: ['void'] })
    await decided(run, other, { retry: true })
    expect(await start(run)).toMatchObject({ generation: 2, wanted: idsOf(other) })
  })

  it('is of the last record of the work, which has run again since it collided', async () => {
    const run = await changed([one])
    const [again] = await test.repeated(run, [one])
    const [attempt] = await test.claimReady(run)
    if (again === undefined || attempt === undefined) throw new Error('nothing was ready')
    const outcome = anOutcome({ changeSetIds: [setOf(again)], recordHash: 'r' })
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
    await decided(run, again)
    const states = async () => {
      const { byChangeSet } = await test.ledger.readDecisions(run)
      const all = await rejectedWork(await test.ledger.getRun(run), [...byChangeSet.values()], test.ledger)
      return all.map(({ state }) => state)
    }
    expect(await states()).toEqual(['untried'])
    await laterThanSaid(run)
    await test.reopened(run, [one])
    expect(await states()).toEqual(['told'])
    await test.settleAll(run)
    expect(await states()).toEqual(['told'])
  })

  it('waits for a stack with the kind of model that the run was begun with', async () => {
    const run = await test.executing([one], { labels: { 'remora.model': 'rehearsal' } })
    const [attempt] = await test.claimReady(run)
    if (attempt === undefined) throw new Error('nothing was ready')
    const outcome = anOutcome({ changeSetIds: [setOf(one)], recordHash: 'r' })
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
    await decided(run, one, { retry: true })
    await ended(run)
    expect(await start(run, 'servers')).toMatchObject({ generation: 1, states: ['waiting'] })
    expect(await start(run, 'rehearsal')).toMatchObject({ generation: 2, states: ['started'] })
    await planReopened(test.ledger, run, [one])
    expect(await start(run)).toMatchObject({ generation: 2, states: ['started'] })
  })
})

const acts = { retry: 'retry', cancel: 'cancel' } as const

/** Has a person answer two questions about the run, of which the second stays open. */
async function retryAnswered(runId: RunId): Promise<void> {
  const question = { after: 0, bundle: 'watcher', text: 'What now?', choices: ['retry', 'cancel'], acts }
  const asked = { token: 'w', version: 1, state: {}, events: [anEvent()], questions: [question, question] }
  await test.ledger.keepWatch(runId, asked)
  await test.ledger.resume(runId, { requestId: 'q1', text: 'retry', by: person, command: 'answer' })
}

it.each([
  ['somebody', (id: RunId) => test.ledger.cancel(id, { reason: 'enough', origin: person })],
  ['an answer', (id: RunId) => test.ledger.resume(id, { requestId: 'q2', text: 'cancel', by: person, command: 'c' })],
])('what failed is not tried again once %s has cancelled the run', async (_who, cancel) => {
  const { ledger } = test
  const runId = await test.executing([one])
  await retryAnswered(runId)
  for (const attempt of await test.claimReady(runId))
    await ledger.settle(attempt, 1, { outcome: anOutcome({ status: 'failed', errorCode: 'AGENT_004' }), events: [] })
  await cancel(runId)
  await ended(runId, 'cancelled')
  expect(await start(runId)).toMatchObject({ generation: 1 })
})

it('what failed is tried again once, after the end of the run, where the answer about it asks for that', async () => {
  const { ledger } = test
  const runId = await test.executing([one, other])
  await retryAnswered(runId)
  expect(await ledger.wantedNotes()).toContainEqual({ runId, at: expect.any(Number) })
  const [fails, works] = await test.claimReady(runId)
  if (fails === undefined || works === undefined) throw new Error('two were ready')
  await ledger.settle(fails, 1, { outcome: anOutcome({ status: 'failed', errorCode: 'AGENT_004' }), events: [] })
  await start(runId)
  expect((await ledger.getRun(runId)).generation).toBe(1)
  await ledger.settle(works, 1, { outcome: anOutcome(), events: [] })
  await ended(runId, 'failed')
  for (const _ of [1, 2]) await start(runId)
  expect(await ledger.getRun(runId)).toMatchObject({ status: 'running', generation: 2, wantsRetry: false })
})
