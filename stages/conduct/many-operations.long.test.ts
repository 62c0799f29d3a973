import { expect, it } from 'vitest'
import type { PlanningItem } from '#domain/agenda.ts'
import type { RunId } from '#domain/ids.ts'
import { getDecisionRecord } from '#store/objects/decision-record.ts'
import { aPlannedItem } from '#testing/conducted-run.ts'
import { anOutcome, aPlannedOperation, claimReady } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openConducting } from './conducted-run.fixture.ts'

const run = useOpened(openConducting)
const [slices, perSlice] = [10, 500]

/** Plans 5,000 operations of the item, as discovery does, and ends them. */
async function carryOut(runId: RunId, { item_id: itemId, version }: PlanningItem, generation: number): Promise<void> {
  for (let slice = 0; slice < slices; slice++) {
    const operations = Array.from({ length: perSlice }, (_, at) => {
      return aPlannedOperation(`${itemId}_${slice * perSlice + at}`, { bundle: itemId })
    })
    const planned = aPlannedItem(itemId, version, operations, generation)
    const answer = await run.ledger.plan(runId, { ...planned, slice, last: slice === slices - 1, planHash: itemId })
    expect(answer).toBe('planned')
    const attempts = await claimReady(run.ledger, runId)
    expect(attempts).toHaveLength(perSlice)
    await Promise.all(attempts.map((one) => run.ledger.settle(one, 1, { outcome: anOutcome(), events: [] })))
  }
}

it('10,000 operations cost one plan and one decision, of which neither grows with them', async () => {
  const runId = await run.conducted()
  const { step, asked } = await run.conductor('basic')
  expect(await step(runId)).toBe('idle')
  const ends: string[] = []
  let decidesAfter = 0
  for (const generation of [1, 2]) {
    const state = await run.stateOf(runId)
    const [next] = state?.kind === 'open' ? state.planning : []
    if (next === undefined) throw new Error('nothing is to be planned')
    await carryOut(runId, next, generation)
    decidesAfter = (await run.ledger.getRun(runId)).seq
    ends.push(await step(runId))
  }
  expect((await run.ledger.getRun(runId)).counts.succeeded).toBe(2 * slices * perSlice)
  expect([...ends, await asked()]).toEqual(['idle', 'over', 2])
  const [decided] = await run.ledger.readEvents(runId, { after: decidesAfter, limit: 1 })
  expect(decided?.event).toBe('conductor.decided')
  const hash = String(decided?.data['record_hash'])
  const { messages } = await getDecisionRecord(run.objects, { projectId: run.project, runId, hash })
  expect(JSON.stringify(messages).length).toBeLessThan(40_000)
}, 600_000)
