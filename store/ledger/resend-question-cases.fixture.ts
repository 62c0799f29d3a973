import { aCost, anEvent, aPlannedOperation, type TestLedger } from '#testing/open-test-ledger.ts'
import type { Attempt } from './attempt.ts'
import {
  child,
  origin,
  root,
  startedAttempt,
  stopRun,
  type Client,
  type PreparedCommand,
  type ResendCase,
} from './resend-case.fixture.ts'
import type { Suspension } from './end-attempt.ts'

const suspension: Suspension = {
  question: { text: 'Shall I?', choices: ['yes', 'no'] },
  answerWithinMs: 60_000,
  recordHash: 'the-record',
  spent: aCost,
  events: [anEvent()],
}

const answer = { requestId: 'q1', text: 'yes', by: origin, command: 'the-answer' }

async function suspended(test: TestLedger): Promise<Attempt> {
  const attempt = await startedAttempt(test, [root, child])
  await test.ledger.suspend(attempt, 1, suspension)
  return attempt
}

function suspending(attempt: Attempt): PreparedCommand {
  const send = ({ ledger }: Client) => ledger.suspend(attempt, 1, suspension)
  return { runId: attempt.runId, send, again: { kind: 'already' } }
}

const sibling = aPlannedOperation('sibling')
const calling = {
  ...suspension,
  question: { text: 'May it?', choices: null, call: { tool: 'write', arguments: '{}' } },
}
const allowing = { ...answer, text: '', verdict: 'allow_for_run' } as const

/** The first attempts of two operations of one bundle. */
async function twoStarted(test: TestLedger): Promise<[Attempt, Attempt]> {
  const first = await startedAttempt(test, [root, sibling])
  const [job] = (await test.ledger.dispatch(first.runId, 1, { command: 'second' })).taken
  const second = job && (await test.ledger.claim({ runId: first.runId, ...job }, 'the-other-token'))
  if (second?.kind !== 'claimed') throw new Error('nothing was ready')
  return [first, second.attempt]
}

const deferral: Suspension = { tool: 'run', turn: 1, recordHash: 'the-record', spent: aCost, events: [anEvent()] }

async function deferred(test: TestLedger): Promise<Attempt> {
  const attempt = await startedAttempt(test, [root, child])
  await test.ledger.suspend(attempt, 1, deferral)
  return attempt
}

/** Operations that wait for a person or a tool. */
export const questionCases: readonly ResendCase[] = [
  {
    script: 'hand-over',
    what: 'of the last operation that ran',
    prepare: async (test) => suspending(await startedAttempt(test, [root, child])),
  },
  {
    script: 'hand-over',
    what: 'in a stopped run',
    async prepare(test) {
      const attempt = await startedAttempt(test, [root, child])
      await stopRun(test, attempt.runId)
      return suspending(attempt)
    },
  },
  {
    script: 'hand-over',
    what: 'of an operation whose tool takes long',
    async prepare(test) {
      const attempt = await startedAttempt(test, [root, child])
      const send = ({ ledger }: Client) => ledger.suspend(attempt, 1, deferral)
      return { runId: attempt.runId, send, again: { kind: 'already' } }
    },
  },
  {
    script: 'await-tool',
    what: 'that has ended',
    async prepare(test) {
      const attempt = await deferred(test)
      return { runId: attempt.runId, send: ({ ledger }) => ledger.awaitTool(attempt, 'another'), again: 'lost' }
    },
  },
  {
    script: 'sweep',
    what: 'of a tool whose worker is silent',
    async prepare(test) {
      const { runId } = await deferred(test)
      await test.redis.zadd(`${test.namespace}:{${runId}}:waiting`, 1, root.operationId)
      return { runId, send: ({ ledger }) => ledger.sweep(runId), again: { left: 0, takenBack: 0 } }
    },
  },
  {
    script: 'resume',
    what: 'of a waiting operation',
    async prepare(test) {
      const { runId } = await suspended(test)
      return { runId, send: ({ ledger }) => ledger.resume(runId, answer) }
    },
  },
  {
    script: 'resume',
    what: 'of a question about the run',
    async prepare(test) {
      const runId = await test.executing([root])
      const questions = [
        { after: 0, bundle: 'watcher', text: 'What now?', choices: ['yes'], acts: { yes: 'cancel' } } as const,
      ]
      await test.ledger.keepWatch(runId, { token: 'w', version: 1, state: {}, events: [anEvent()], questions })
      return { runId, send: ({ ledger }) => ledger.resume(runId, answer) }
    },
  },
  {
    script: 'resume',
    what: 'for the whole run, which another operation waits for too',
    async prepare(test) {
      const attempts = await twoStarted(test)
      for (const attempt of attempts) await test.ledger.suspend(attempt, 1, calling)
      const [{ runId }] = attempts
      return { runId, send: ({ ledger }) => ledger.resume(runId, allowing) }
    },
  },
  {
    script: 'hand-over',
    what: 'for the approval of a tool that is allowed by now',
    async prepare(test) {
      const [first, second] = await twoStarted(test)
      const { runId } = first
      await test.ledger.suspend(first, 1, calling)
      await test.ledger.resume(runId, allowing)
      return { runId, send: ({ ledger }) => ledger.suspend(second, 1, calling), again: { kind: 'already' } }
    },
  },
  {
    script: 'claim',
    what: 'of a resumed operation',
    async prepare(test) {
      const { runId } = await suspended(test)
      await test.ledger.resume(runId, answer)
      await test.ledger.dispatch(runId, 1, { command: 'second' })
      const job = { runId, operationId: root.operationId, dispatch: 2 }
      return { runId, send: ({ ledger }) => ledger.claim(job, 'another-token') }
    },
  },
  {
    script: 'sweep',
    what: 'of a question nobody answered',
    async prepare(test) {
      const { runId } = await suspended(test)
      await test.redis.zadd(`${test.namespace}:{${runId}}:waiting`, 1, root.operationId)
      return { runId, send: ({ ledger }) => ledger.sweep(runId) }
    },
  },
  {
    script: 'end-slice',
    what: 'of an operation that waits',
    async prepare(test) {
      const { runId } = await suspended(test)
      await stopRun(test, runId)
      return { runId, send: ({ ledger }) => ledger.endSlice(runId, 0) }
    },
  },
]
