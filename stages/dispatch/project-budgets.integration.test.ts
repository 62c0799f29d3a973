import { describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import type { RunRequest } from '#domain/run.ts'
import type { NewRun } from '#store/ledger/run-commands.ts'
import { anEvent, anOutcome, aRequest, executing, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openDispatcher, operations } from './dispatcher.fixture.ts'
import { type DispatchDeps, dispatchReady } from './run-dispatcher.ts'

const test = useOpened(testLedger)

const origin = { kind: 'api', id: 'test' } as const
const anAnswer = [
  anEvent({ event: 'model.requested', phase: 'model' }),
  anEvent({ event: 'model.responded', phase: 'model', data: { prompt_tokens: 90, completion_tokens: 10 } }),
]

let made = 0
/** A run of a project of its own, unless one is named. */
async function aRun(request: Partial<RunRequest> = {}, projectId = `project${(made += 1)}`) {
  const ledger = {
    ...test.ledger,
    createRun: (run: NewRun) => test.ledger.createRun({ ...run, projectId }),
  }
  return { projectId, runId: await executing(ledger, operations, aRequest(request)) }
}

/** Claims everything that was dispatched: each asks its model once, for 100 tokens, and ends if it is said to. */
async function work(runId: RunId, { ends }: { ends: boolean }): Promise<number> {
  const { operations: all } = await test.ledger.listOperations(runId, { limit: 100, status: 'dispatched' })
  for (const { operationId, dispatch } of all) {
    const answer = await test.ledger.claim({ runId, operationId, dispatch }, operationId)
    if (answer.kind !== 'claimed') throw new Error('it was not there')
    await test.ledger.append(answer.attempt, 1, { events: anAnswer })
    if (ends) await test.ledger.settle(answer.attempt, 2, { outcome: anOutcome(), events: [] })
  }
  return all.length
}

async function rounds(deps: DispatchDeps, count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) await dispatchReady(deps)
}

/** The events about its budgets. */
async function saidOf(runId: RunId): Promise<string[]> {
  const events = await test.ledger.readEvents(runId, { after: 0, limit: 1_000 })
  return events.map(({ event }) => event).filter((name) => name.startsWith('budget.'))
}

const verified = async (runId: RunId) => expect((await test.ledger.verify(runId)).violations).toEqual([])

describe('a run with a budget', () => {
  it('starts nothing more once it is used up, lets what runs go on, says so, and goes on when it is raised', async () => {
    const { deps, logged } = openDispatcher(test, { operations: 4 })
    const { runId, projectId } = await aRun({ budget: { tokens: 250 } })
    await dispatchReady(deps)
    const first = await work(runId, { ends: false })
    await rounds(deps, 3)
    expect(await test.ledger.getRun(runId)).toMatchObject({
      status: 'running',
      tokens: first * 100,
      counts: { running: first },
    })
    const { operations: running } = await test.ledger.listOperations(runId, { limit: 100, status: 'running' })
    await test.ledger.sweep(runId, 'abandoned') // as if their workers were killed
    await rounds(deps, 3)
    expect(running).toHaveLength(first)
    const waiting = await test.ledger.getRun(runId)
    expect(waiting).toMatchObject({
      status: 'waiting',
      counts: { ready: 20, dispatched: 0, running: 0 },
      usedBudgets: [{ of: 'run', limit: 250, used: first * 100, resetsAt: null }],
    })
    const names = (await test.ledger.readEvents(runId, { after: 0, limit: 1_000 })).map(({ event }) => event)
    expect(names.filter((name) => name.startsWith('budget.') || name === 'run.waiting')).toEqual([
      'budget.reached',
      'run.waiting',
    ])
    await verified(runId)
    await test.ledger.setBudget(runId, { tokens: first * 100 + 1, origin })
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'running', usedBudgets: [] })
    await rounds(deps, 2)
    const about = { run_id: runId, project_id: projectId, used: first * 100 }
    expect(logged(runId)).toMatchObject([
      { message: 'a run has used its budget: nothing more that needs a model starts', ...about, limit: 250 },
      { message: 'a run has tokens again', ...about, limit: first * 100 + 1 },
    ])
    expect(await work(runId, { ends: true })).toBeGreaterThan(0)
    await verified(runId)
  })

  it('uses no more than what was handed out by then, however many dispatchers there are', async () => {
    const { runId } = await aRun({ budget: { tokens: 1 } })
    const both = [openDispatcher(test, { operations: 4 }), openDispatcher(test, { operations: 4 })]
    await Promise.all(both.map(({ deps }) => dispatchReady(deps)))
    const handedOut = await work(runId, { ends: true })
    for (let round = 0; round < 4; round += 1) await Promise.all(both.map(({ deps }) => dispatchReady(deps)))
    expect(await test.ledger.getRun(runId)).toMatchObject({ tokens: handedOut * 100, status: 'waiting' })
    await verified(runId)
  })

  it('goes on with what needs no model', async () => {
    const { deps, count } = openDispatcher(test)
    const mechanical = operations.map((one, at) => (at < 3 ? { ...one, work: 'mechanical' as const } : one))
    const runId = await test.executing(mechanical, { budget: { tokens: 1 } })
    await test.ledger.dispatch(runId, 1)
    const [first] = (await test.ledger.listOperations(runId, { limit: 1, status: 'dispatched' })).operations
    await work(runId, { ends: true })
    expect(first?.work).toBe('mechanical') // which asks a model here all the same, to use something
    await rounds(deps, 3)
    expect(count(runId)).toBe(2)
  })

  it('says that it is used up only once something waits for it', async () => {
    const { deps, count } = openDispatcher(test)
    const mechanical = operations.map((one, at) => (at < 3 ? one : { ...one, work: 'mechanical' as const }))
    const runId = await test.executing(mechanical, { budget: { tokens: 1 } })
    await test.ledger.dispatch(runId, 3)
    await work(runId, { ends: false }) // all that need a model
    await rounds(deps, 1)
    expect(count(runId)).toBeGreaterThan(0)
    expect(await saidOf(runId)).toEqual([])
    expect(await test.ledger.getRun(runId)).toMatchObject({ usedBudgets: [{ of: 'run', holds: false }] })
    await test.ledger.setBudget(runId, { tokens: null, origin })
    await test.ledger.setBudget(runId, { tokens: 1, origin })
    expect(await saidOf(runId)).toEqual(['budget.set', 'budget.set'])
    await verified(runId)
    await test.ledger.sweep(runId, 'abandoned') // now those that need a model are there again
    await rounds(deps, 3)
    expect(await saidOf(runId)).toEqual(['budget.set', 'budget.set', 'budget.reached'])
    expect(await test.ledger.getRun(runId)).toMatchObject({ usedBudgets: [{ of: 'run', holds: true }] })
    await test.ledger.setBudget(runId, { tokens: null, origin })
    expect((await saidOf(runId)).slice(3)).toEqual(['budget.set', 'budget.renewed'])
    await verified(runId)
  })
})

describe('the budget of a project for a day', () => {
  it('holds all its runs and no others, until midnight', async () => {
    const { deps, clock } = openDispatcher(test, { operations: 12 })
    const [own, stranger] = [await aRun(), await aRun()]
    const second = await aRun({}, own.projectId)
    await test.ledger.setProjectBudget(own.projectId, { by: 'operator', tokens: 150 })
    await dispatchReady(deps)
    const states = async () => Promise.all([own, second, stranger].map(({ runId }) => test.ledger.getRun(runId)))
    for (const { runId } of [own, second, stranger]) await work(runId, { ends: true })
    await rounds(deps, 5)
    const wait = { of: 'project', limit: 150, resetsAt: Date.UTC(2026, 10, 2) }
    expect(await states()).toMatchObject([
      { status: 'waiting', usedBudgets: [wait] },
      { status: 'waiting', usedBudgets: [wait] },
      { status: 'running', usedBudgets: [] },
    ])
    clock.nowMs = Date.UTC(2026, 10, 2) - 1
    await dispatchReady(deps)
    expect(await states()).toMatchObject([{ status: 'waiting' }, { status: 'waiting' }, {}])
    clock.nowMs += 1
    await dispatchReady(deps)
    expect(await states()).toMatchObject([{ status: 'running', usedBudgets: [] }, { status: 'running' }, {}])
    for (const { runId } of [own, second, stranger]) await verified(runId)
  })

  it('is not said to be there again when only the work of a run has gone', async () => {
    const { deps, clock, logged } = openDispatcher(test, { operations: 40 })
    const { projectId, runId } = await aRun()
    await test.ledger.setProjectBudget(projectId, { by: 'operator', tokens: 150 })
    await test.ledger.dispatch(runId, 2)
    await work(runId, { ends: false })
    await rounds(deps, 3)
    expect(await test.ledger.getRun(runId)).toMatchObject({ counts: { ready: 18 }, usedBudgets: [{ holds: true }] })
    await test.ledger.setAway(runId, [{ model: 'default', since: 1, bundles: ['lint'] }])
    await test.ledger.blockHeld(runId, { bundle: 'lint', reason: 'its model was away for 24 h' })
    await rounds(deps, 3)
    const run = await test.ledger.getRun(runId)
    expect(run).toMatchObject({ counts: { ready: 0, blocked: 18, running: 2 }, usedBudgets: [{ of: 'project' }] })
    expect([await saidOf(runId), logged(runId).length]).toEqual([['budget.reached'], 1])
    clock.nowMs = Date.UTC(2026, 10, 2)
    await rounds(deps, 3)
    expect([await saidOf(runId), logged(runId).length]).toEqual([['budget.reached', 'budget.renewed'], 2])
    await verified(runId)
  })

  it('is the smaller of what the operator and the project have set, and counts each token once', async () => {
    const { projectId, runId } = await aRun()
    await test.ledger.setProjectBudget(projectId, { by: 'operator', tokens: 500 })
    await test.ledger.setProjectBudget(projectId, { by: 'own', tokens: 900 })
    const day = Date.UTC(2026, 10, 1)
    const run = await test.ledger.getRun(runId)
    const count = (tokens: number, nowMs = day) => test.ledger.countSpent({ ...run, projectId, tokens }, { nowMs })
    expect((await Promise.all([count(70), count(100), count(70), count(100)])).at(-1)).toMatchObject({
      used: 100,
      limit: 500,
      resetsAt: day + 86_400_000,
    })
    expect(await count(130, day + 86_400_000)).toMatchObject({ used: 30 })
    await test.ledger.setProjectBudget(projectId, { by: 'own', tokens: 90 })
    expect(await count(130)).toMatchObject({ used: 100, limit: 90 })
    await test.ledger.setProjectBudget(projectId, { by: 'own', tokens: null })
    await test.ledger.setProjectBudget(projectId, { by: 'operator', tokens: null })
    expect(await count(130)).toMatchObject({ limit: null })
  })

  it('also counts what a run has used that is stopped', async () => {
    const { deps, clock } = openDispatcher(test)
    const { projectId, runId } = await aRun()
    await dispatchReady(deps)
    await work(runId, { ends: false })
    await test.ledger.cancel(runId, { reason: 'enough', origin })
    await test.ledger.sweep(runId, 'abandoned')
    await rounds(deps, 3)
    const run = await test.ledger.getRun(runId)
    expect([run.status, run.tokens > 0]).toEqual(['cancelled', true])
    const counted = await test.ledger.countSpent({ ...run, projectId, tokens: 0 }, { nowMs: clock.nowMs })
    expect(counted).toMatchObject({ used: run.tokens })
  })
})
