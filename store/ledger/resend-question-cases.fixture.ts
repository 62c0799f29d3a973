import { aCost, anEvent, type TestLedger } from '#testing/open-test-ledger.ts'
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

/** Operations that wait for a person. */
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
    script: 'resume',
    what: 'of a waiting operation',
    async prepare(test) {
      const { runId } = await suspended(test)
      return { runId, send: ({ ledger }) => ledger.resume(runId, answer) }
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
