import { describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { aPlannedItem, anItem, conductedRun, dispatchItems, takeStep } from '#testing/conducted-run.ts'
import { draws, fc } from '#testing/fast-check.ts'
import { anOutcome, aPlannedOperation, endRun, nextRecord, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import type { Attempt } from './attempt.ts'

const test = useOpened(testLedger)
const works = ['one', 'two', 'three'].map((name) => aPlannedOperation(name))
const ids = ['first', 'second', 'third'] as const

/** `of` picks an item or a running attempt; `twice`: as a client whose answer was lost sends it. */
const acts = fc.array(
  fc.record({
    kind: fc.constantFrom('dispatch', 'plan', 'plan', 'claim', 'settle', 'settle', 'lose', 'say', 'hear'),
    of: fc.nat({ max: 5 }),
    twice: fc.boolean(),
  }),
  { minLength: 5, maxLength: 30 },
)

type Act = { kind: string; of: number; twice: boolean }
type World = { runId: RunId; attempts: Attempt[]; said: number }

/** Plans the next item over some of the works, those that were done before as their next records. */
async function planNext({ runId }: World, { of, twice }: Act): Promise<void> {
  const run = await test.ledger.getRun(runId)
  const [next] = run.conductor?.kind === 'open' ? run.conductor.planning : []
  if (next === undefined) return
  const { operations: records } = await test.ledger.listOperations(runId, { limit: 200 })
  const generation = run.generation + (records.length > 0 ? 1 : 0)
  const planned: PlannedOperation[] = []
  for (const work of works.slice(0, of % 4)) {
    const all = records.filter(({ operationId, repeats }) => (repeats?.operationId ?? operationId) === work.operationId)
    const isOpen = all.some(({ endedAt }) => endedAt === null)
    if (isOpen) continue
    planned.push(
      all.length === 0 ? work : await nextRecord(test.ledger, { runId, generation }, { ...work, after: [] }, 'asked'),
    )
  }
  const slice = aPlannedItem(next.item_id, next.version, planned, generation)
  expect(await test.ledger.plan(runId, slice)).toBe('planned')
  if (twice) expect(await test.ledger.plan(runId, slice)).toBe('already')
}

async function dispatchOne({ runId }: World, { of }: Act): Promise<void> {
  const id = ids[of % ids.length] ?? 'first'
  const { open = 0 } = (await test.ledger.readAgenda(runId))?.counts.get(id) ?? {}
  if (open === 0) await dispatchItems(test.ledger, runId, anItem(id))
}

async function settleOne(world: World, { of, twice }: Act): Promise<void> {
  const attempt = world.attempts.splice(of % Math.max(1, world.attempts.length), 1)[0]
  if (attempt === undefined) return
  const failed = anOutcome({ status: 'failed', errorCode: 'AGENT_004' })
  const outcome = of % 2 === 0 ? anOutcome({ changeSetId: `c${attempt.operationId}`, findings: 1 }) : failed
  const answers = [{ kind: 'settled' }, { kind: 'already' }].slice(0, twice ? 2 : 1)
  for (const answer of answers) expect(await test.ledger.settle(attempt, 1, { outcome, events: [] })).toEqual(answer)
}

async function takeAct(world: World, act: Act): Promise<void> {
  const { ledger } = test
  const { runId } = world
  if (act.kind === 'dispatch') await dispatchOne(world, act)
  if (act.kind === 'plan') await planNext(world, act)
  if (act.kind === 'claim') world.attempts.push(...(await test.claimReady(runId)))
  if (act.kind === 'settle') await settleOne(world, act)
  if (act.kind === 'hear') await takeStep(ledger, runId)
  if (act.kind === 'lose' && (await ledger.sweep(runId, 'abandoned')) !== undefined) world.attempts = []
  if (act.kind !== 'say') return
  world.said += 1
  const command = `said ${world.said}`
  const message = { kind: 'said', text: 'more', by: 'human/t1' } as const
  for (const _ of act.twice ? [1, 2] : [1])
    await ledger.sendToConductor(runId, message, { command, origin: { kind: 'api', id: 'q' } })
}

describe('any history of a conducted run', () => {
  it(
    'leaves an agenda that its events account for, in which each item has ended once',
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(acts, fc.boolean(), async (history, isStopped) => {
          const { ledger } = test
          const world: World = { runId: await conductedRun(ledger), attempts: [], said: 0 }
          const { runId } = world
          for (const act of history) await takeAct(world, act)
          expect((await ledger.verify(runId)).violations).toEqual([])
          if (isStopped) await ledger.cancel(runId, { reason: 'enough', origin: { kind: 'api', id: 'q' } })
          await ledger.sweep(runId, 'abandoned')
          if (isStopped) await ledger.endSlice(runId, 0)
          else await finish(runId)
          await endRun(ledger, runId, isStopped ? 'cancelled' : 'completed')
          expect((await ledger.verify(runId)).violations).toEqual([])
        }),
        { numRuns: draws(40) },
      )
    },
  )
})

async function finish(runId: RunId): Promise<void> {
  await takeStep(test.ledger, runId, { close: { kind: 'done' } })
  await test.settleAll(runId)
  await test.ledger.relayResults(runId)
  expect((await test.ledger.getRun(runId)).phase).toBe('review')
}
