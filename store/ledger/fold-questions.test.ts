import { describe, expect, it } from 'vitest'
import type { Question } from '#domain/question.ts'
import type { RunStatus } from '#domain/run.ts'
import { eventsOf, type GivenEvent } from './events.fixture.ts'
import { foldOperations } from './fold-operations.ts'
import { foldQuestions } from './fold-questions.ts'
import type { OperationAccount } from './accounts.ts'

const planned = new Map([
  ['a', { waitsFor: [], repeats: null }],
  ['b', { waitsFor: [], repeats: null }],
])

type Kept = { status: RunStatus; operation: OperationAccount['status']; questions: Record<string, Question['status']> }

/** What the questions of a run with the operations a and b do not agree on; all questions are those of a. */
function faults({ status, operation, questions }: Kept, given: readonly GivenEvent[]): string[] {
  const operations = foldOperations({ planned, policy: 'continue' })
  const fold = foldQuestions(operations, { isUsedUp: () => false })
  for (const event of eventsOf(given)) {
    operations.take(event)
    fold.take(event)
  }
  const account = {
    status: operation,
    hasOutcome: false,
    findings: 0,
    leavesWork: false,
    waitsFor: [],
    generation: 1,
    itemId: null,
    repeats: null,
    supersededBy: null,
    isSaying: false,
    reserved: 0,
    question: Object.keys(questions).at(-1) ?? null,
  }
  const kept = Object.entries(questions).map(([requestId, one]) => aQuestion(requestId, one))
  const asked = { questions: kept, allowed: new Set<string>() }
  return fold.violations({ status }, new Map([['a', account]]), asked).map(({ message }) => message)
}

function aQuestion(requestId: string, status: Question['status']): Question {
  const place = { operationId: 'a', nodeId: 'n', bundle: 'lint', path: 'a.py', qualifiedName: 'f' }
  return { requestId, ...place, text: '?', choices: null, status, askedAt: 1, expiresAt: 2, answer: null }
}

const started: GivenEvent[] = [
  ['operation.queued', 'a', { dispatch: 1 }],
  ['operation.started', 'a', { attempt: 1 }],
]
const asked: GivenEvent[] = [
  ...started,
  ['human_input.requested', 'a', { request_id: 'q1' }],
  ['operation.suspended', 'a', { request_id: 'q1' }],
]
const waiting: GivenEvent[] = [...asked, ['run.waiting', undefined, { questions: 1 }]]
const answered: GivenEvent[] = [
  ...waiting,
  ['human_input.answered', 'a', { request_id: 'q1' }],
  ['operation.resumed', 'a', { request_id: 'q1' }],
]
const expired: GivenEvent[] = [...waiting, ['operation.blocked', 'a'], ['operation.ended', 'a', { status: 'blocked' }]]

const open: Kept = { status: 'waiting', operation: 'waiting', questions: { q1: 'open' } }

describe('the questions of a run', () => {
  it.each<[string, Kept, GivenEvent[]]>([
    ['nobody has asked', { status: 'running', operation: 'running', questions: {} }, started],
    ['one is open', open, waiting],
    ['one is open and the run goes on', { ...open, status: 'running' }, asked],
    ['one was answered', { status: 'running', operation: 'ready', questions: { q1: 'answered' } }, answered],
    ['one has expired', { status: 'running', operation: 'blocked', questions: { q1: 'expired' } }, expired],
    [
      'one was cancelled',
      { status: 'running', operation: 'cancelled', questions: { q1: 'cancelled' } },
      [...waiting, ['operation.skipped', 'a', { status: 'cancelled' }]],
    ],
  ])('agree with its events when %s', (_what, kept, given) => {
    expect(faults(kept, given)).toEqual([])
  })

  it.each<[string, Kept, GivenEvent[], string]>([
    ['one is not kept', { ...open, questions: {} }, waiting, 'question q1 is not there, its events say open'],
    ['one was never asked', open, started, 'question q1 is open, of operation a, its events say not there'],
    ['one is open that was answered', { ...open, status: 'running' }, answered, 'its events say answered'],
    ['nothing waits for the answer', { ...open, operation: 'ready' }, waiting, 'operation a does not wait for it'],
    ['one waits for an answer that came', { ...open, questions: { q1: 'answered' } }, waiting, 'which is not open'],
    [
      'the run does not wait',
      { ...open, status: 'running' },
      waiting,
      'the run is running, its events say that it waits',
    ],
    ['the run waits unsaid', open, asked, 'the run is waiting, its events say that it goes on'],
    [
      'the run counts another number',
      open,
      [...asked, ['run.waiting', undefined, { questions: 2 }]],
      'counts 2 questions',
    ],
    [
      'the run waits beside work',
      open,
      [...asked, ['operation.queued', 'b', { dispatch: 1 }], ['run.waiting', undefined, { questions: 1 }]],
      'run.waiting: operations are dispatched',
    ],
    [
      'one has the number of another',
      open,
      [...started, ['human_input.requested', 'a', { request_id: 'q2' }]],
      'event 3 asks q2 as number 1',
    ],
  ])('do not agree with its events when %s', (_what, kept, given, fault) => {
    expect(faults(kept, given)).toContainEqual(expect.stringContaining(fault))
  })
})
