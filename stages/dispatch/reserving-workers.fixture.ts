import { newToken, type OperationId, type RunId } from '#domain/ids.ts'
import { anEvent, anOutcome, type TestLedger } from '#testing/open-test-ledger.ts'
import type { Attempt } from '#store/ledger/attempt.ts'

/** Numbers in [0, 1), the same ones for the same seed (mulberry32). */
export function openRandom(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What a request may use at most, and what its answer says it has used. */
export type Asking = { bound: number; used: number }
type Working = Asking & { attempt: Attempt; n: number; isOpen: boolean; turnsLeft: number; turn: number }
type How = { random(): number; ask(): Asking; turns: number; lossRate: number }
type Stores = Pick<TestLedger, 'ledger' | 'redis' | 'namespace'>
type Workers = How & {
  test: Stores
  working: Set<Working>
  seen: { refused: number; lost: number; ended: number; open: number }
}

/**
 * Workers that carry out operations as `ask` says, without a model: each step takes some of them by chance, and has each claim, ask for its
 * next request, answer one, end, or be lost.
 */
export function openReservingWorkers(test: Stores, how: How) {
  const workers: Workers = { ...how, test, working: new Set(), seen: { refused: 0, lost: 0, ended: 0, open: 0 } }
  const { seen, working, random } = workers
  return {
    seen,
    /** Has about `share` of all that could move do so, at the same time and in no order. */
    async step(runId: RunId, share: number) {
      const { operations } = await test.ledger.listOperations(runId, { limit: 1_000, status: 'dispatched' })
      const claims = operations.map((job) => () => claim(workers, runId, job))
      const ofRun = [...working].filter(({ attempt }) => attempt.runId === runId)
      const moves = ofRun.map((one) => () => move(workers, one))
      const chosen = [...claims, ...moves].filter(() => random() < share)
      const order = chosen.map((act) => ({ act, at: random() })).toSorted((left, right) => left.at - right.at)
      await Promise.all(order.map(({ act }) => act()))
      seen.open = Math.max(seen.open, ofRun.filter(({ isOpen }) => isOpen).length)
    },
  }
}

async function claim(workers: Workers, runId: RunId, job: { operationId: OperationId; dispatch: number }) {
  const { test, random, ask, turns, working } = workers
  const claimed = await test.ledger.claim({ runId, ...job }, newToken())
  if (claimed.kind !== 'claimed') return
  const turnsLeft = 1 + Math.floor(random() * turns)
  working.add({ ...ask(), attempt: claimed.attempt, n: 0, isOpen: false, turnsLeft, turn: 1 })
}

function move(workers: Workers, one: Working): Promise<void> {
  if (workers.random() < workers.lossRate) return lose(workers, one)
  return one.isOpen ? respond(workers, one) : request(workers, one)
}

async function request({ test: { ledger }, working, seen }: Workers, one: Working): Promise<void> {
  const { attempt, bound, turn } = one
  const told = await ledger.append(attempt, (one.n += 1), { events: [], reserve: bound })
  if (told.kind === 'lost') return void working.delete(one)
  if (told.budget === 'full') {
    seen.refused += 1
    working.delete(one)
    await ledger.release(attempt, (one.n += 1), { reason: 'budget', events: [] })
    return
  }
  one.isOpen = true
  const sent = anEvent({ event: 'model.requested', phase: 'model', data: { turn, reserved: bound } })
  await ledger.append(attempt, (one.n += 1), { events: [sent] })
}

async function respond({ test: { ledger }, working, seen, ask }: Workers, one: Working): Promise<void> {
  const { attempt, used, bound, turn } = one
  const tokens = { prompt_tokens: used - 1, completion_tokens: 1 }
  const events = [anEvent({ event: 'model.responded', phase: 'model', data: { turn, ...tokens } })]
  if (used > bound) {
    const data = { turn, endpoint: 'e', requested: bound, reported: used }
    events.push(anEvent({ event: 'budget.exceeded_by_server', phase: 'model', data }))
  }
  one.turnsLeft -= 1
  if (one.turnsLeft > 0) {
    Object.assign(one, { ...ask(), isOpen: false, turn: turn + 1 })
    await ledger.append(attempt, (one.n += 1), { events })
    return
  }
  working.delete(one)
  seen.ended += 1
  await ledger.settle(attempt, (one.n += 1), { outcome: anOutcome(), events })
}

/** As if its worker was killed: nothing tells the ledger but its lease, which has run out. */
async function lose({ test: { redis, namespace }, working, seen }: Workers, one: Working): Promise<void> {
  const { runId, operationId } = one.attempt
  seen.lost += 1
  working.delete(one)
  await redis.zadd(`${namespace}:{${runId}}:leases`, 1, operationId)
}
