import type { RunId } from '#domain/ids.ts'
import { anEvent, anOutcome, aPlannedOperation, type TestLedger } from '#testing/open-test-ledger.ts'
import { questionCases } from './resend-question-cases.fixture.ts'
import type { Attempt } from './attempt.ts'
import { child, loseWorker, origin, root, startedAttempt, type Client, type ResendCase } from './resend-case.fixture.ts'

const ofOperations: readonly ResendCase[] = [
  {
    script: 'dispatch',
    what: 'of one of two',
    async prepare(test) {
      const runId = await test.executing([root, aPlannedOperation('other'), child])
      return { runId, send: ({ ledger }) => ledger.dispatch(runId, 1, { command: 'command' }) }
    },
  },
  {
    script: 'claim',
    what: 'of a dispatched operation',
    async prepare(test) {
      const runId = await test.executing([root])
      await test.ledger.dispatch(runId, 1, { command: 'first' })
      const job = { runId, operationId: root.operationId, dispatch: 1 }
      return { runId, send: ({ ledger }) => ledger.claim(job, 'token') }
    },
  },
  {
    script: 'append',
    what: 'of two events and of what was said',
    async prepare(test) {
      const attempt = await startedAttempt(test, [root])
      return {
        runId: attempt.runId,
        send: ({ ledger }) => ledger.append(attempt, 1, { events: [anEvent(), anEvent()], doing, talk }),
      }
    },
  },
  {
    script: 'settle',
    what: 'that skips a dependent',
    async prepare(test) {
      const attempt = await startedAttempt(test, [root, child])
      const settlement = { outcome: anOutcome({ status: 'failed' }), events: [anEvent()] }
      const send = ({ ledger }: Client) => ledger.settle(attempt, 1, settlement)
      return { runId: attempt.runId, send, again: { kind: 'already' } }
    },
  },
  {
    script: 'settle',
    what: 'with a change set that is built on others',
    async prepare(test) {
      const attempt = await startedAttempt(test, [root])
      const [base, made] = ['c0000000000000001', 'c0000000000000002']
      const builtOn = new Map([[base, [made]]])
      await test.ledger.append(attempt, 1, { events: [], talk })
      const settlement = {
        outcome: anOutcome({ status: 'succeeded', changeSetId: made, recordHash: 'r' }),
        builtOn,
        events: [anEvent()],
      }
      const send = ({ ledger }: Client) => ledger.settle(attempt, 2, settlement)
      return { runId: attempt.runId, send, again: { kind: 'already' } }
    },
  },
  {
    script: 'hand-over',
    what: 'of a running operation',
    async prepare(test) {
      const attempt = await startedAttempt(test, [root])
      await test.ledger.append(attempt, 1, { events: [], talk })
      const handedBack = { reason: 'drain', said: [talk], events: [anEvent()] } as const
      const send = ({ ledger }: Client) => ledger.release(attempt, 2, handedBack)
      return { runId: attempt.runId, send, again: { kind: 'already' } }
    },
  },
]

const nothingLeft = { left: 0, takenBack: 0 }

/** What takes back an operation whose worker is silent. */
const ofLostWorkers: readonly ResendCase[] = [
  {
    script: 'sweep',
    what: 'of an operation whose worker was lost too often',
    async prepare(test) {
      const attempt = await startedAttempt(test, [root, child])
      const { runId } = attempt
      await test.ledger.append(attempt, 1, { events: [], talk })
      await loseWorker(test, runId, 2)
      return { runId, send: ({ ledger }) => ledger.sweep(runId), again: nothingLeft }
    },
  },
  {
    script: 'requeue',
    what: 'of a lost job',
    async prepare(test) {
      const runId = await test.executing([root, aPlannedOperation('other')])
      const { taken } = await test.ledger.dispatch(runId, 2, { command: 'first' })
      return { runId, send: ({ ledger }) => ledger.requeue(runId, taken, 'again') }
    },
  },
]

const ofAwayModels: readonly ResendCase[] = [
  {
    script: 'set-away',
    what: 'of a model that is back',
    async prepare(test) {
      const runId = await test.executing([root, child])
      await hold(test, runId)
      return { runId, send: ({ ledger }) => ledger.setAway(runId, []) }
    },
  },
  {
    script: 'block-held',
    what: 'that skips a dependent',
    async prepare(test) {
      const runId = await test.executing([root, child])
      await hold(test, runId)
      return { runId, send: ({ ledger }) => ledger.blockHeld(runId, { bundle: 'lint', reason: 'away' }) }
    },
  },
]

const ofBudgets: readonly ResendCase[] = [
  {
    script: 'set-budget',
    what: 'that is raised',
    async prepare(test) {
      const runId = await test.executing([root, aPlannedOperation('other')])
      await test.ledger.append(await spending(test, runId), 1, { events: [spent] })
      await test.ledger.setBudget(runId, { tokens: 5, origin })
      await test.ledger.dispatch(runId, 5, { command: 'that holds' })
      return { runId, send: ({ ledger }) => ledger.setBudget(runId, { tokens: null, origin }) }
    },
  },
  {
    script: 'note-budget',
    what: 'of a new day',
    async prepare(test) {
      const runId = await test.executing([root])
      await test.ledger.noteProjectBudget(runId, { limit: 5, used: 7, resetsAt: 9 })
      await test.ledger.dispatch(runId, 5, { command: 'that holds' })
      const day = { granted: 50, keep: 20 }
      return { runId, send: ({ ledger }) => ledger.noteProjectBudget(runId, undefined, day) }
    },
  },
  {
    script: 'append',
    what: 'that reserves',
    async prepare(test) {
      const attempt = await startedAttempt(test, [root])
      await test.ledger.setBudget(attempt.runId, { tokens: 20, origin })
      return {
        runId: attempt.runId,
        send: ({ ledger }) => ledger.append(attempt, 1, { events: [spent], reserve: 13 }),
      }
    },
  },
  {
    script: 'append',
    what: 'that reserves more than there is',
    async prepare(test) {
      const attempt = await startedAttempt(test, [root])
      await test.ledger.setBudget(attempt.runId, { tokens: 20, origin })
      return {
        runId: attempt.runId,
        send: ({ ledger }) => ledger.append(attempt, 1, { events: [spent], reserve: 14 }),
      }
    },
  },
  {
    script: 'count-spent',
    what: 'of a run',
    async prepare(test) {
      const runId = await test.executing([root])
      const run = { ...(await test.ledger.getRun(runId)), projectId: `p${runId}`, tokens: 7 }
      await test.ledger.setProjectBudget(run.projectId, { by: 'own', tokens: 100 })
      const wanted = { nowMs: Date.UTC(2026, 10, 1), sharers: 2, least: 5 }
      return { runId, send: ({ ledger }) => ledger.countSpent(run, wanted) }
    },
  },
]

const talk = { said: 'much' }
const doing = { kind: 'tool', what: 'run_linter', turn: 1, afterTool: true, sinceMs: 1_700_000_000_000 } as const
const spent = anEvent({ event: 'model.responded', data: { prompt_tokens: 5, completion_tokens: 2 } })

async function spending(test: TestLedger, runId: RunId): Promise<Attempt> {
  await test.ledger.dispatch(runId, 1, { command: 'first' })
  const answer = await test.ledger.claim({ runId, operationId: root.operationId, dispatch: 1 }, 'the-token')
  if (answer.kind !== 'claimed') throw new Error('nothing was ready')
  return answer.attempt
}

const away = [{ model: 'default', since: 1, bundles: ['lint'] }]

async function hold(test: TestLedger, runId: RunId): Promise<void> {
  await test.ledger.setAway(runId, away)
  await test.ledger.dispatch(runId, 5, { command: 'that holds' })
}

export const operationCases: readonly ResendCase[] = [
  ...ofOperations,
  ...ofLostWorkers,
  ...ofAwayModels,
  ...ofBudgets,
  ...questionCases,
]
