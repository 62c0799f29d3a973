import { expect, it } from 'vitest'
import { countFunnel } from '#change-sets/funnel.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { RunId } from '#domain/ids.ts'
import { aPlannedItem, anItem, conductedRun, dispatchItems, takeStep } from '#testing/conducted-run.ts'
import { anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import type { Composition } from '#store/objects/composition.ts'
import { useOpened } from '#testing/use-opened.ts'
import { collectChanges } from './collect-changes.ts'
import { keptOfItems, madeIn } from './made-sets.ts'

const test = useOpened(testLedger)

const first = aPlannedOperation('one')
const setOf = (changeSetId: string): ChangeSet => ({
  changeSetId,
  operationId: first.operationId,
  bundle: 'lint',
  nodeId: 'n0000000000000000',
  files: [{ kind: 'create', path: 'a.py', content: '' }],
  evidence: [],
})

/** Each operation that is ready makes this change set; none: its checks have failed. */
async function play(runId: RunId, changeSetId?: string): Promise<void> {
  for (const attempt of await test.claimReady(runId)) {
    const failed = { status: 'failed', errorCode: 'WORK_005' } as const
    const made = changeSetId === undefined ? failed : { changeSetIds: [changeSetId], recordHash: changeSetId }
    await test.ledger.settle(attempt, 1, { outcome: anOutcome(made), events: [] })
  }
}

async function collected(runId: RunId) {
  const readSets = async (_project: string, recordHash: string) => [setOf(recordHash)]
  return collectChanges(
    await test.ledger.getRun(runId),
    { ledger: test.ledger, readSets },
    new AbortController().signal,
  )
}

it('knows what was made anew in a later generation, unless that failed or has made the same again', async () => {
  const runId = await test.executing([first])
  const isRedone = async () =>
    (await collected(runId)).changes.map(({ set, isRedone: redone }) => [set.changeSetId, redone])
  await play(runId, 'c1')
  await test.repeated(runId, [first])
  await play(runId, 'c2')
  expect(await isRedone()).toEqual([
    ['c1', true],
    ['c2', false],
  ])
  await test.reopened(runId, [first])
  await play(runId)
  expect(await isRedone()).toEqual([
    ['c1', true],
    ['c2', false],
  ])
  await test.reopened(runId, [first])
  await play(runId, 'c1')
  expect(await isRedone()).toEqual([
    ['c1', false],
    ['c2', true],
    ['c1', false],
  ])
  expect((await test.ledger.verify(runId)).violations).toEqual([])
})

it('counts what did not pass its checks, until a later generation has tried that again', async () => {
  const [other, third] = [aPlannedOperation('two'), aPlannedOperation('three')]
  const runId = await test.executing([first, other, third])
  const figures = async () => {
    const all = await collected(runId)
    const [funnel] = countFunnel(madeIn(all, [], { byChangeSet: new Map() }), () => 'pending')
    return [funnel?.generated, all.codes.failed.get('WORK_005') ?? 0]
  }
  await play(runId)
  expect(await figures()).toEqual([3, 3])
  await test.reopened(runId, [first])
  await play(runId, 'c1')
  expect(await figures()).toEqual([3, 2])
  await test.reopened(runId, [other], 'failed')
  await play(runId)
  expect(await figures()).toEqual([3, 2])
})

it('counts of each item what the composition keeps, also what was made anew since it collided', async () => {
  const runId = await conductedRun(test.ledger)
  const version = await dispatchItems(test.ledger, runId, anItem('lint'))
  await test.ledger.plan(runId, aPlannedItem('lint', version, [first]))
  await play(runId, 'c1')
  await takeStep(test.ledger, runId, { close: { kind: 'done' } })
  await test.repeated(runId, [first])
  await play(runId, 'c2')
  const all = await collected(runId)
  const kept = (conflicts: Composition['conflicts']) =>
    keptOfItems(all, madeIn(all, conflicts, { byChangeSet: new Map() }))
  expect(kept([])).toEqual({ lint: 1 })
  const conflict = { operationId: first.operationId, path: 'a.py', errorCode: 'WORK_001', reason: 'both' } as const
  expect(kept([{ changeSetId: 'c2', ...conflict }])).toEqual({})
})
