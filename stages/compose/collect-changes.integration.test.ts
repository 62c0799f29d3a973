import { afterAll, beforeAll, expect, it } from 'vitest'
import { readAccepted } from '#change-sets/accepted-sets.ts'
import { countFunnel } from '#change-sets/funnel.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { repeatedOperationId, type RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { anEvent, anOutcome, aPlannedOperation, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { collectChanges } from './collect-changes.ts'
import { madeIn } from './made-sets.ts'

let test: TestLedger
beforeAll(async () => {
  test = await testLedger()
})
afterAll(() => test.close())

const first = aPlannedOperation('one')
const setOf = ({ operationId }: Pick<PlannedOperation, 'operationId'>): ChangeSet => ({
  changeSetId: `c${operationId.slice(1)}`,
  operationId,
  bundle: 'lint',
  nodeId: 'n0000000000000000',
  files: [{ kind: 'create', path: 'a.py', content: '' }],
  evidence: [],
})

/** Each operation that is ready makes its change set. */
async function play(runId: RunId): Promise<void> {
  for (const attempt of await test.claimReady(runId)) {
    const { changeSetId } = setOf(attempt)
    const outcome = anOutcome({ changeSetIds: [changeSetId], recordHash: attempt.operationId })
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
  }
}

it('knows what was made again since it collided, and takes what a retry makes just so as made by that', async () => {
  const former = await test.executing([first])
  await play(former)
  const repeats = { operationId: first.operationId, changeSetIds: [setOf(first).changeSetId] }
  const again = { ...first, operationId: repeatedOperationId(first.operationId), repeats }
  const event = anEvent({ event: 'operations.repeated', phase: 'review' })
  expect(await test.ledger.planAgain(former, { operations: [again], event })).toBe('planned')
  await play(former)
  const retry = await test.executing([first], { retryOf: former })
  await play(retry)

  const redoneIn = async (...ids: [RunId, ...RunId[]]) => {
    const [newest, ...older] = await Promise.all(ids.map((id) => test.ledger.getRun(id)))
    if (newest === undefined) throw new Error('there is no run')
    const readSets = async (_project: string, recordHash: string) => [setOf({ operationId: recordHash })]
    const deps = { ledger: test.ledger, readSets }
    const { changes } = await collectChanges([newest, ...older], deps, new AbortController().signal)
    return changes.map(({ operation, isRedone }) => [operation.runId, operation.operationId, isRedone])
  }
  expect(await redoneIn(former)).toEqual([
    [former, first.operationId, true],
    [former, again.operationId, false],
  ])
  expect(await redoneIn(retry, former)).toEqual([
    [former, first.operationId, true],
    [former, again.operationId, true],
    [retry, first.operationId, false],
  ])
})

it('counts what did not pass its checks in an earlier run, until a retry tries that again', async () => {
  const [other, third] = [aPlannedOperation('two'), aPlannedOperation('three')]
  const failing = async (runId: RunId) => {
    for (const attempt of await test.claimReady(runId)) {
      const outcome = anOutcome({ status: 'failed', errorCode: 'WORK_005' })
      await test.ledger.settle(attempt, 1, { outcome, events: [] })
    }
  }
  const former = await test.executing([first, other, third])
  await failing(former)
  const retry = await test.executing([first], { retryOf: former })
  await play(retry)
  const second = await test.executing([other], { retryOf: retry })
  await failing(second)
  const generatedIn = async (...ids: [RunId, ...RunId[]]) => {
    const [newest, ...older] = await Promise.all(ids.map((id) => test.ledger.getRun(id)))
    if (newest === undefined) throw new Error('there is no run')
    const readSets = async (_project: string, recordHash: string) => [setOf({ operationId: recordHash })]
    const deps = { ledger: test.ledger, readSets }
    const collected = await collectChanges([newest, ...older], deps, new AbortController().signal)
    return countFunnel(madeIn(collected, [], { byChangeSet: new Map() }), () => 'pending')[0]?.generated
  }
  expect(await generatedIn(former)).toBe(3)
  expect(await generatedIn(retry, former)).toBe(3)
  expect(await generatedIn(second, retry, former)).toBe(3)
})

it('has what was accepted in a retry beside it among what is accepted, if it has made the same', async () => {
  const former = await test.executing([first])
  for (const attempt of await test.claimReady(former)) {
    await test.ledger.settle(attempt, 1, { outcome: anOutcome({ status: 'unchanged' }), events: [] })
  }
  const [one, beside] = [
    await test.executing([first], { retryOf: former }),
    await test.executing([first], { retryOf: former }),
  ]
  await play(one)
  await play(beside)
  const { operationId, node, bundle: agent } = first
  const { changeSetId } = setOf(first)
  const made = { changeSetId, runId: beside, operationId, recordHash: 'of the other run', node, agent, reason: null }
  const decisions = [{ ...made, verdict: 'accepted', before: 'pending' } as const]
  await test.ledger.decide(former, { last: 0, decisions, by: { kind: 'human', id: 't1' } })
  const acceptedIn = async (...ids: RunId[]) => {
    const [newest, ...older] = await Promise.all(ids.map((id) => test.ledger.getRun(id)))
    if (newest === undefined) throw new Error('there is no run')
    const readSets = async (_project: string, recordHash: string) =>
      recordHash === operationId ? [setOf({ operationId })] : []
    const deps = { ledger: test.ledger, readSets }
    const { sets, nodeOf } = await readAccepted([newest, ...older], await test.ledger.readDecisions(former), deps)
    return [sets.map((set) => set.changeSetId), (await nodeOf(operationId))?.nodeId]
  }
  expect(await acceptedIn(one, former)).toEqual([[changeSetId], node.nodeId])
  expect(await acceptedIn(former)).toEqual([[], undefined])
})
