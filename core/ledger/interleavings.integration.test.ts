import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newToken, type RunId } from '#domain/ids.ts'
import type { EndedOperationStatus, PlannedOperation } from '#domain/operation.ts'
import { anEvent, anOutcome, aPlannedOperation } from '#testing/factories.ts'
import { testLedger, type TestLedger } from '#testing/ledger.ts'
import type { Attempt, DispatchedOperation } from './claim.ts'
import type { Ledger } from './ledger.ts'

let test: TestLedger
beforeAll(async () => {
  test = await testLedger()
})
afterAll(() => test.close())

/** What some process does next; `pick` chooses among what it could be about, late and stale things included. */
type Step = {
  act: 'dispatch' | 'claim' | 'append' | 'settle' | 'release' | 'relay' | 'expire'
  pick: number
  repeat: boolean
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    act: fc.constantFrom('dispatch', 'claim', 'claim', 'append', 'settle', 'settle', 'release', 'relay', 'expire'),
    pick: fc.nat({ max: 1_000 }),
    repeat: fc.boolean(),
  }),
  { minLength: 20, maxLength: 60 },
)

/** Who waits for whom: each operation for some of those before it. */
const plans: fc.Arbitrary<PlannedOperation[]> = fc
  .array(fc.array(fc.nat({ max: 6 }), { maxLength: 3 }), { minLength: 2, maxLength: 7 })
  .map((waits) => {
    const planned: PlannedOperation[] = []
    for (const [index, befores] of waits.entries()) {
      const after = [...new Set(befores)].flatMap((before) => planned[before] ?? [])
      planned.push(aPlannedOperation(`f${index}`, {}, after))
    }
    return planned
  })

const endings: EndedOperationStatus[] = ['succeeded', 'unchanged', 'failed', 'blocked', 'cancelled', 'skipped']

/** The world of one example: jobs that were ever given out, attempts that were ever made. */
type World = { ledger: Ledger; runId: RunId; jobs: DispatchedOperation[]; attempts: { attempt: Attempt; n: number }[] }

const acts: Record<Step['act'], (world: World, pick: number) => Promise<(() => Promise<unknown>) | undefined>> = {
  async dispatch(world, pick) {
    const command = newToken()
    const send = () => world.ledger.dispatch(world.runId, 1 + (pick % 3), command)
    const { taken } = await send()
    world.jobs.push(...taken.map((job) => ({ runId: world.runId, ...job })))
    return send
  },
  async claim(world, pick) {
    const job = world.jobs[pick % Math.max(1, world.jobs.length)]
    if (job === undefined) return undefined
    const send = () => world.ledger.claim(job, `t${pick}`)
    const answer = await send()
    if (answer.kind === 'claimed') world.attempts.push({ attempt: answer.attempt, n: 0 })
    return send
  },
  async append(world, pick) {
    const made = world.attempts[pick % Math.max(1, world.attempts.length)]
    if (made === undefined) return undefined
    made.n += 1
    const { attempt, n } = made
    const send = () => world.ledger.append(attempt, n, pick % 2 === 0 ? [anEvent(), anEvent()] : [])
    await send()
    return send
  },
  async settle(world, pick) {
    const made = world.attempts[pick % Math.max(1, world.attempts.length)]
    if (made === undefined) return undefined
    made.n += 1
    const { attempt, n } = made
    const status = endings[pick % endings.length] ?? 'failed'
    const send = () => world.ledger.settle(attempt, n, { outcome: anOutcome({ status }), events: [anEvent()] })
    await send()
    return send
  },
  async release(world, pick) {
    const made = world.attempts[pick % Math.max(1, world.attempts.length)]
    if (made === undefined) return undefined
    made.n += 1
    const { attempt, n } = made
    const send = () => world.ledger.release(attempt, n, { reason: 'drain', events: [anEvent()] })
    await send()
    return send
  },
  async relay(world) {
    const send = () => world.ledger.relayResults(world.runId)
    await send()
    return send
  },
  /** Time passes: a lease runs out. */
  async expire(world, pick) {
    const leases = `${test.namespace}:{${world.runId}}:leases`
    const held = await test.redis.zrange(leases, '0', '-1')
    const lost = held[pick % Math.max(1, held.length)]
    if (lost !== undefined) await test.redis.zadd(leases, 1, lost)
    return undefined
  },
}

/** Brings the run to its end, as workers that come back would. */
async function finish(world: World): Promise<void> {
  for (const { attempt, n } of world.attempts) {
    await world.ledger.settle(attempt, n + 1, { outcome: anOutcome(), events: [] })
  }
  let { jobs } = world
  do {
    for (const job of jobs) {
      const answer = await world.ledger.claim(job, 'last')
      if (answer.kind === 'claimed') await world.ledger.settle(answer.attempt, 1, { outcome: anOutcome(), events: [] })
    }
    const { taken } = await world.ledger.dispatch(world.runId, 100)
    jobs = taken.map((job) => ({ runId: world.runId, ...job }))
  } while (jobs.length > 0)
}

it('keeps its accounts in every order of commands, repeats and lost workers, and comes to an end', async () => {
  const policies = fc.constantFrom('skip_downstream', 'continue')
  const property = fc.asyncProperty(plans, policies, steps, async (operations, errorPolicy, sequence) => {
    const runId = await test.executing(operations, { errorPolicy })
    const world: World = { ledger: test.ledger, runId, jobs: [], attempts: [] }
    for (const { act, pick, repeat } of sequence) {
      const again = await acts[act](world, pick)
      if (repeat) await again?.()
    }
    expect((await test.ledger.verify(runId)).violations).toEqual([])
    await finish(world)
    await test.ledger.relayResults(runId)
    const run = await test.ledger.getRun(runId)
    expect(run.phase).toBe('review')
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })
  // A failure prints its seed and path; fc.assert(property, { seed, path }) plays it again.
  await fc.assert(property, { numRuns: 60 })
}, 120_000)
