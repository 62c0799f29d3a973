import { expect, it } from 'vitest'
import type { EventName } from '#domain/events/event-table.ts'
import type { RunId } from '#domain/ids.ts'
import { Publication } from '#domain/publication.ts'
import { aCost, anEvent, anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'

const test = useOpened(testLedger)
const origin = { kind: 'api', id: 'test' } as const
const first = aPlannedOperation('first')
const second = aPlannedOperation('second', {}, [first])

/** Every event from number `after` on that says what it follows from, with the name of that. */
async function causesIn(runId: RunId, after = 0) {
  const events = await test.ledger.readEvents(runId, { after: 0, limit: 1_000 })
  const nameOf = (seq: number) => events[seq - 1]?.event
  return events
    .slice(after)
    .flatMap(({ event, causationSeq }) => (causationSeq === undefined ? [] : [`${event} ← ${nameOf(causationSeq)}`]))
}

async function claim(runId: RunId) {
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  return attempt
}

it('an operation’s events say what they follow from, through losses, questions and its dependents', async () => {
  const runId = await test.executing([first, second])
  await claim(runId)
  await test.redis.zadd(`${test.namespace}:{${runId}}:leases`, 1, first.operationId)
  await test.ledger.sweep(runId)
  const asks = await claim(runId)
  const question = { text: 'Shall I?', choices: null }
  await test.ledger.suspend(asks, 1, { question, answerWithinMs: 60_000, recordHash: 'r', spent: aCost, events: [] })
  await test.ledger.resume(runId, { requestId: 'q1', text: 'yes', by: origin, command: 'answer' })
  const fails = await claim(runId)
  await test.ledger.settle(fails, 1, { outcome: anOutcome({ status: 'failed', errorCode: 'AGENT_004' }), events: [] })
  expect(await causesIn(runId)).toEqual([
    'operation.queued ← run.planned',
    'operation.started ← operation.queued',
    'operation.retried ← operation.started',
    'operation.queued ← operation.retried',
    'operation.started ← operation.queued',
    'human_input.requested ← operation.started',
    'operation.suspended ← human_input.requested',
    'human_input.answered ← operation.suspended',
    'operation.resumed ← human_input.answered',
    'operation.queued ← operation.resumed',
    'operation.started ← operation.queued',
    'operation.failed ← operation.started',
    'operation.ended ← operation.started',
    'operation.skipped ← operation.ended',
  ])
  expect((await test.ledger.verify(runId)).violations).toEqual([])
})

it('a dependent is queued for the end of what it waits for, and a repeat for the end of what it repeats', async () => {
  const runId = await test.executing([first, second])
  await test.settleAll(runId)
  const { seq } = await test.ledger.getRun(runId)
  await test.repeated(runId, [second])
  await test.settleAll(runId)
  expect((await causesIn(runId)).slice(3, 5)).toEqual([
    'operation.queued ← operation.ended',
    'operation.started ← operation.queued',
  ])
  expect((await causesIn(runId, seq)).slice(0, 2)).toEqual([
    'operations.repeated ← operation.ended',
    'operation.queued ← operations.repeated',
  ])
  expect((await test.ledger.verify(runId)).violations).toEqual([])
})

it('a model is back and a budget renewed after they were gone', async () => {
  const runId = await test.executing([first])
  const { seq } = await test.ledger.getRun(runId)
  await test.ledger.setAway(runId, [{ model: 'm', since: 1, bundles: ['lint'] }])
  await test.ledger.setAway(runId, [])
  await test.ledger.noteProjectBudget(runId, { limit: 5, used: 7, resetsAt: 9 })
  await test.ledger.dispatch(runId, 1)
  await test.ledger.noteProjectBudget(runId, undefined)
  expect(await causesIn(runId, seq)).toEqual(['models.back ← models.away', 'budget.renewed ← budget.reached'])
})

it('what is published follows from the composition or the last decision, whichever came later', async () => {
  const runId = await test.executing([first])
  await test.settleAll(runId)
  const { seq } = await test.ledger.getRun(runId)
  const events = [anEvent({ event: 'run.composed', phase: 'review' })]
  await test.ledger.move(runId, { from: [{ status: 'running' }], to: { phase: 'review' }, command: 'compose', events })
  const publish = async (event: EventName, version: number) => {
    const publication = Publication.parse({ version, isAsked: true })
    await test.ledger.notePublication(runId, { publication, events: [anEvent({ event, phase: 'publication' })] })
  }
  await publish('publication.opened', 0)
  const { operationId, node, bundle: agent } = first
  const accepted = { changeSetId: 'c1', verdict: 'accepted', before: 'pending', reason: null, recordHash: 'r' } as const
  const by = { kind: 'human', id: 't1' } as const
  await test.ledger.decide(runId, { last: 0, decisions: [{ ...accepted, operationId, node, agent }], by })
  await publish('publication.updated', 1)
  const effects = ['publication.opened ← run.composed', 'publication.updated ← decision.made']
  expect(await causesIn(runId, seq)).toEqual(effects)
})
