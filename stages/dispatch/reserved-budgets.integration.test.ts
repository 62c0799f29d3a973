import { describe, expect, it } from 'vitest'
import { AppError, undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { aPlannedItem, anItem, conductedRun, dispatchItems } from '#testing/conducted-run.ts'
import { anEvent, anOutcome, aPlannedOperation, aRequest, executing, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { silentLog } from '#platform/log.ts'
import { openDispatcher } from './dispatcher.fixture.ts'
import { openProjectBudgets } from './project-budgets.ts'
import { openRandom, openReservingWorkers } from './reserving-workers.fixture.ts'
import { dispatchReady } from './run-dispatcher.ts'

const test = useOpened(testLedger)
const origin = { kind: 'api', id: 'test' } as const
const seed = Number(process.env['BUDGET_SEED'] ?? Date.now() % 1_000_000)

let made = 0
async function aRun(count: number, budget?: number, projectId = `reserving${(made += 1)}`) {
  const ledger = {
    ...test.ledger,
    createRun: (run: Parameters<typeof test.ledger.createRun>[0]) => test.ledger.createRun({ ...run, projectId }),
  }
  const operations = Array.from({ length: count }, (_, at) => aPlannedOperation(`f${at}`))
  const request = budget === undefined ? {} : { budget: { tokens: budget } }
  return { projectId, runId: await executing(ledger, operations, aRequest(request)) }
}

/** Requests of 400 to 1,600 tokens, of which answers use a fifth to all. */
function world(options: { turns?: number; lossRate?: number; exceeds?: number } = {}) {
  const random = openRandom(seed)
  const ask = () => {
    const bound = 400 + Math.floor(random() * 1_200)
    const most = random() < (options.exceeds ?? 0) ? 2 * bound : bound
    return { bound, used: Math.ceil(most * (0.2 + 0.8 * random())) }
  }
  const workers = openReservingWorkers(test, { turns: 1, lossRate: 0, ...options, random, ask })
  const dispatchers = [openDispatcher(test, { operations: 500 }), openDispatcher(test, { operations: 500 })]
  return { workers, dispatchers, random }
}

/** The world's dispatchers now and then die between the two steps of a grant or of what is given back, in either order. */
function dying({ dispatchers, random, ...more }: World): World {
  const orDies =
    <Args extends unknown[], Answer>(command: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      const [before, after] = [random() < 0.1, random() < 0.1]
      if (before) throw new AppError('STORE_001', 'it died before')
      const answer = await command(...args)
      if (after) throw new AppError('STORE_001', 'it died after')
      return answer
    }
  const ledger = {
    countSpent: orDies(test.ledger.countSpent),
    noteProjectBudget: orDies(test.ledger.noteProjectBudget),
  }
  for (const { deps, clock } of dispatchers)
    deps.budgets = openProjectBudgets({ ledger, now: async () => clock.nowMs, log: silentLog })
  return { dispatchers, random, ...more }
}

type World = ReturnType<typeof world>

/** Goes on until none of the runs moves by itself; after each step nothing of a budget is overdrawn. */
async function goOn({ workers, dispatchers }: World, runIds: readonly RunId[], check: (runs: readonly Run[]) => void) {
  for (let step = 0; step < 600; step += 1) {
    await Promise.all(dispatchers.map(({ deps }) => dispatchReady(deps).catch(undefinedOn('STORE_001'))))
    for (const runId of runIds) await workers.step(runId, 0.7)
    for (const runId of runIds) await test.ledger.sweep(runId)
    const runs = await Promise.all(runIds.map((runId) => test.ledger.getRun(runId)))
    check(runs)
    const isStill = ({ status, phase }: Run) => status === 'waiting' || phase === 'review'
    if (runs.every(isStill)) return runs
  }
  throw new Error('the runs neither wait nor end')
}

const within = (limit: number) => (runs: readonly Run[]) => {
  for (const { tokens, reserved } of runs) expect(tokens + reserved).toBeLessThanOrEqual(limit)
}

async function verified(...runIds: readonly RunId[]) {
  for (const runId of runIds) expect((await test.ledger.verify(runId)).violations).toEqual([])
}

describe(`tokens that are reserved before they are spent (BUDGET_SEED=${seed})`, () => {
  it('of 500 operations in parallel are never more than the budget, which is used to 90 % and more; raised, the run goes on', async ({
    annotate,
  }) => {
    const { runId } = await aRun(500, 100_000)
    const seen = world({ turns: 3, lossRate: 0.02 })
    const [first] = await goOn(seen, [runId], within(100_000))
    expect(first).toMatchObject({ status: 'waiting', reserved: 0, usedBudgets: [{ of: 'run', limit: 100_000 }] })
    expect(first?.tokens).toBeGreaterThanOrEqual(90_000)
    await verified(runId)
    await test.ledger.setBudget(runId, { tokens: 150_000, origin })
    const [second] = await goOn(seen, [runId], within(150_000))
    expect(second?.tokens).toBeGreaterThanOrEqual(135_000)
    await test.ledger.setBudget(runId, { tokens: null, origin })
    const [last] = await goOn(seen, [runId], () => undefined)
    expect(last).toMatchObject({ phase: 'review', reserved: 0, counts: { ready: 0, running: 0 } })
    await verified(runId)
    await annotate(
      `${first?.tokens} of 100,000, then ${second?.tokens} of 150,000 ${JSON.stringify(seen.workers.seen)}`,
    )
  })

  it('are given back by an attempt that is lost, handed back or ends, and dispatched work has its own again', async () => {
    const { runId } = await aRun(3, 5_000)
    const attempts = await test.claimReady(runId)
    const reserve = async (at: number, tokens: number) => {
      const [attempt] = attempts.slice(at)
      return attempt && (await test.ledger.append(attempt, 1, { events: [], reserve: tokens }))
    }
    expect(await reserve(0, 2_000)).toMatchObject({ budget: 'limited' })
    expect(await reserve(1, 2_000)).toMatchObject({ budget: 'limited' })
    expect(await reserve(2, 2_000)).toMatchObject({ budget: 'full' })
    const [lost, , refused] = attempts
    if (lost === undefined || refused === undefined) throw new Error('nothing was claimed')
    await test.ledger.release(refused, 2, { reason: 'budget', events: [] })
    expect((await test.ledger.dispatch(runId, 5)).taken).toEqual([])
    await test.redis.zadd(`${test.namespace}:{${runId}}:leases`, 1, lost.operationId)
    await test.ledger.sweep(runId)
    expect(await test.ledger.getRun(runId)).toMatchObject({ reserved: 2_000 })
    const { taken } = await test.ledger.dispatch(runId, 5)
    expect(taken).toHaveLength(1)
    expect(await test.ledger.getRun(runId)).toMatchObject({ reserved: 4_000 })
    await verified(runId)
    await test.ledger.sweep(runId, 'abandoned')
    expect(await test.ledger.getRun(runId)).toMatchObject({ reserved: 2_000, counts: { dispatched: 1 } })
    await verified(runId)
    await test.redis.hincrby(`${test.namespace}:{${runId}}:run`, 'reserved', 1)
    const message = '2001 tokens are counted as reserved, 2000 are'
    expect((await test.ledger.verify(runId)).violations).toEqual([{ invariant: 2, message }])
  })

  it('of an item are never more than its own budget, and what no longer fits ends as blocked', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    const version = await dispatchItems(ledger, runId, { ...anItem('lint'), budget: { tokens: 500 } })
    await ledger.plan(
      runId,
      aPlannedItem(
        'lint',
        version,
        ['first', 'second', 'third'].map((name) => aPlannedOperation(name)),
      ),
    )
    const [one, other, last] = await test.claimReady(runId)
    if (one === undefined || other === undefined || last === undefined) throw new Error('three were ready')
    expect(one.isLimited).toBe(true)
    expect(await ledger.append(one, 1, { events: [], reserve: 300 })).toMatchObject({ budget: 'limited' })
    expect(await ledger.append(other, 1, { events: [], reserve: 300 })).toMatchObject({ budget: 'full' })
    await ledger.release(other, 2, { reason: 'budget', events: [] })
    expect((await ledger.dispatch(runId, 5)).taken).toEqual([]) // it fits once what is reserved is given back
    const data = { prompt_tokens: 200, completion_tokens: 10 }
    await ledger.append(one, 2, { events: [anEvent({ event: 'model.requested', data: { reserved: 300 } })] })
    const answered = anEvent({ event: 'model.responded', data })
    await ledger.settle(one, 3, { outcome: anOutcome(), events: [answered] })
    await ledger.settle(last, 1, { outcome: anOutcome(), events: [] })
    expect((await ledger.dispatch(runId, 5)).taken).toEqual([]) // 290 are left, and it needs 300
    const told = await ledger.readEvents(runId, { after: 0, limit: 500 })
    expect(told.find(({ event }) => event === 'item.ended')?.data).toMatchObject({
      counts: { succeeded: 2, blocked: 1 },
      faults: { LIMIT_004: 1 },
    })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('count as the server reports them, also when that is more than was asked for', async () => {
    const { runId } = await aRun(100, 20_000)
    const seen = world({ exceeds: 0.5 })
    const [run] = await goOn(seen, [runId], () => undefined)
    expect(run).toMatchObject({ reserved: 0 })
    const tally = await test.ledger.readTally(runId)
    expect(tally.get('budget.exceeded_by_server')).toBeGreaterThan(0)
    await verified(runId)
  })

  it('of two runs of one project are never more than its day together, which is used, whenever dispatchers die', async ({
    annotate,
  }) => {
    const [big, small] = [await aRun(300), await aRun(20)]
    const second = await aRun(200, undefined, big.projectId)
    await test.ledger.setProjectBudget(big.projectId, { by: 'operator', tokens: 60_000 })
    const seen = dying(world({ lossRate: 0.02 }))
    const runIds = [big.runId, second.runId]
    const check = (runs: readonly Run[]) => {
      const all = runs.reduce((sum, { tokens, reserved }) => sum + tokens + reserved, 0)
      expect(all).toBeLessThanOrEqual(60_000)
      for (const { day, tokens, reserved } of runs)
        expect(tokens + reserved).toBeLessThanOrEqual((day.granted ?? 0) - day.returned)
    }
    const runs = await goOn(seen, runIds, check)
    const all = runs.reduce((sum, { tokens }) => sum + tokens, 0)
    expect(all).toBeGreaterThanOrEqual(54_000)
    expect(runs).toMatchObject([{ usedBudgets: [{ of: 'project' }] }, { usedBudgets: [{ of: 'project' }] }])
    await verified(...runIds)
    expect(await test.ledger.getRun(small.runId)).toMatchObject({ day: { granted: null } })
    for (const { clock } of seen.dispatchers) clock.nowMs = Date.UTC(2026, 10, 2)
    const next = await goOn(seen, runIds, () => undefined)
    expect(next.reduce((sum, { tokens }) => sum + tokens, 0) - all).toBeLessThanOrEqual(60_000)
    await verified(...runIds)
    await annotate(
      `${all} of 60,000 by ${runs.map(({ tokens }) => tokens).join(' and ')} ${JSON.stringify(seen.workers.seen)}`,
    )
  })
})
