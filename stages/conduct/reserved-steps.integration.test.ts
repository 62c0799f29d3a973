import { expect, it } from 'vitest'
import { useOpened } from '#testing/use-opened.ts'
import { openConducting } from './conducted-run.fixture.ts'

const run = useOpened(openConducting)
const origin = { kind: 'human', id: 'me' } as const

it('a decision that does not fit into the budget waits for it as operations do, and is asked for once when it was raised', async () => {
  const runId = await run.conducted({ budget: { tokens: 3_000 } })
  const { step, asked } = await run.conductor('one')
  expect([await step(runId), await step(runId), await asked()]).toEqual(['waits', 'waits', 0])
  const waiting = await run.ledger.getRun(runId)
  expect(waiting).toMatchObject({ status: 'waiting', tokens: 0, reserved: 0, lacking: expect.any(Number) })
  const needs = waiting.lacking ?? 0
  expect(waiting.usedBudgets).toMatchObject([{ of: 'run', limit: 3_000, used: 0, needs, holds: true }])
  const names = (await run.eventsOf(runId)).map(({ event }) => event)
  expect(names.filter((name) => /budget|waiting/.test(name))).toEqual(['budget.reached', 'run.waiting'])

  await run.ledger.setBudget(runId, { tokens: needs - 1, origin })
  expect((await run.ledger.getRun(runId)).status).toBe('waiting')
  // What has happened since is in the next question, too.
  await run.ledger.setBudget(runId, { tokens: 2 * needs, origin })
  expect(await run.ledger.getRun(runId)).toMatchObject({ status: 'running', usedBudgets: [] })
  expect([await step(runId), await asked()]).toEqual(['idle', 1])
  const gone = await run.ledger.getRun(runId)
  expect([gone.tokens > 0, gone.tokens <= 2 * needs, gone.reserved, gone.lacking]).toEqual([true, true, 0, null])
  expect((await run.ledger.verify(runId)).violations).toEqual([])
})

it('a decision that needs more of its day than was noted says so', async () => {
  const runId = await run.conducted()
  await run.ledger.noteProjectBudget(runId, undefined, { granted: 10, keep: 10 })
  const { deps } = await run.conductor('one')
  const lackingWith = async (prompt: number) => {
    const model = { ...deps.model, countPrompt: async () => prompt }
    expect(await (await run.conductor('one', { model })).step(runId)).toBe('waits')
    return (await run.ledger.getRun(runId)).lacking ?? 0
  }
  const noted = await lackingWith(1_000)
  expect([await lackingWith(3_000), await lackingWith(2_000)]).toEqual([noted + 2_000, noted + 2_000])
})

it('what a conductor that died had reserved is free once another one has its step, but for a reply that this one counts', async () => {
  const runId = await run.conducted({ budget: { tokens: 10_000 } })
  const reservedNow = async () => (await run.ledger.getRun(runId)).reserved
  const dies = async (token: string) => {
    await run.ledger.claimStep(runId, { token, leaseMs: 0 })
    expect(await run.ledger.reserve(runId, { of: { by: 'agenda', token }, tokens: 9_000 })).toBe('reserved')
  }
  await dies('one')
  const watching = await run.ledger.whileHolding(runId, 'watching', (_lost, token) =>
    run.ledger.reserve(runId, { of: { by: 'watch', token }, tokens: 1_001 }),
  )
  expect(watching).toBe('full')
  await dies('two')
  expect(await run.ledger.reserve(runId, { of: { by: 'agenda', token: 'one' }, tokens: 1 })).toBe('lost')
  const reply = { token: 'two', version: 0, recordHash: 'r', tokens: 700 }
  expect(await run.ledger.noteReply(runId, reply)).toBe('noted')
  await run.ledger.claimStep(runId, { token: 'three', leaseMs: 0 })
  expect(await reservedNow()).toBe(700)
  await run.ledger.cancel(runId, { reason: 'enough', origin })
  const from = [{ status: 'running' }] as const
  await run.ledger.move(runId, { from, to: { status: 'cancelled' }, command: 'stop', events: [] })
  expect(await reservedNow()).toBe(0)
})

it('an answer that was no decision counts also where there is no budget for its correction', async () => {
  const runId = await run.conducted({ budget: { tokens: 1_000_000 } })
  const reserve: typeof run.ledger.reserve = async (id, how) => {
    const answer = await run.ledger.reserve(id, how)
    if (answer === 'reserved') await run.ledger.setBudget(runId, { tokens: how.tokens, origin })
    return answer
  }
  const { step, asked } = await run.conductor('invalid_once', { ledger: { ...run.ledger, reserve } })
  expect([await step(runId), await asked()]).toEqual(['waits', 1])
  const { tokens, budget, reserved } = await run.ledger.getRun(runId)
  expect([tokens > 0, tokens <= (budget ?? 0), reserved]).toEqual([true, true, 0])
  expect((await run.eventsOf(runId)).find(({ event }) => event === 'conductor.failed')).toMatchObject({
    errorCode: 'LIMIT_004',
  })
  expect((await run.ledger.verify(runId)).violations).toEqual([])
})
