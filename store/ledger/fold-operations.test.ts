import { describe, expect, it } from 'vitest'
import type { ErrorPolicyName } from '#domain/run.ts'
import { eventsOf, type GivenEvent } from './events.fixture.ts'
import { foldOperations } from './fold-operations.ts'

const planned = new Map([
  ['a', { waitsFor: [], repeats: null }],
  ['b', { waitsFor: [{ id: 'a', any: false }], repeats: null }],
  ['c', { waitsFor: [], repeats: null }],
  ['d', { waitsFor: [{ id: 'a', any: true }], repeats: null }],
  [
    'r',
    { waitsFor: [], repeats: { operationId: 'a', supersedes: 'a', because: 'collided' as const, changeSetIds: [] } },
  ],
])

/** What is wrong with these events, as `invariant: message`. */
function faults(given: readonly GivenEvent[], policy: ErrorPolicyName = 'skip_downstream'): string[] {
  const fold = foldOperations({ planned, policy })
  for (const event of eventsOf(given)) fold.take(event)
  return fold.violations.map(({ invariant, message }) => `${invariant}: ${message.replace(/^event \d+ /, '')}`)
}

const queued = (id: string, dispatch = 1, reason?: string): GivenEvent => ['operation.queued', id, { dispatch, reason }]
const started = (id: string, attempt = 1): GivenEvent => ['operation.started', id, { attempt }]
const ended = (id: string, status: string): GivenEvent => ['operation.ended', id, { status }]
const failed = (id: string): GivenEvent[] => [['operation.failed', id], ended(id, 'failed')]
const skipped = (id: string, cause: string): GivenEvent => ['operation.skipped', id, { status: 'skipped', cause }]
const blocked = (id: string): GivenEvent[] => [['operation.blocked', id], ended(id, 'blocked')]
const again = (id: string, attempt: number, resumes?: string): GivenEvent[] => [
  queued(id, attempt),
  ['operation.started', id, { attempt, resumes }],
]
const suspended = (id: string, request: string): GivenEvent => ['operation.suspended', id, { request_id: request }]
const askedBy = (id: string, request: string, attempt = 1, resumes?: string): GivenEvent[] => [
  ...again(id, attempt, resumes),
  ['human_input.requested', id, { request_id: request }],
  suspended(id, request),
]
const answered = (id: string, request: string): GivenEvent[] => [
  ['human_input.answered', id, { request_id: request }],
  ['operation.resumed', id, { request_id: request }],
]
const created: GivenEvent = ['change_set.created', 'a', { change_set_id: 'c1' }]
const retried: GivenEvent = ['operation.retried', 'a', { attempt: 1 }]
const succeededWith = (id: string): GivenEvent => ['operation.ended', 'a', { status: 'succeeded', change_set_id: id }]

describe('the operations’ events', () => {
  it.each<[string, ErrorPolicyName, GivenEvent[]]>([
    [
      'an operation and the one that waits for it',
      'skip_downstream',
      [queued('a'), started('a'), ended('a', 'unchanged'), queued('b'), started('b'), ended('b', 'succeeded')],
    ],
    [
      'a failure that skips what waits for it',
      'skip_downstream',
      [queued('a'), started('a'), ...failed('a'), skipped('b', 'a')],
    ],
    [
      'a failure after which the run goes on',
      'continue',
      [queued('a'), started('a'), ...failed('a'), queued('b'), started('b'), ended('b', 'succeeded')],
    ],
    [
      'a dispatch again because the job was lost, and another attempt because the worker was',
      'skip_downstream',
      [
        queued('a'),
        queued('a', 2, 'job_lost'),
        started('a'),
        ['operation.retried', 'a', { attempt: 1 }],
        queued('a', 3),
        started('a', 2),
        created,
        succeededWith('c1'),
      ],
    ],
    [
      'a question that is answered, and another that is not',
      'skip_downstream',
      [...askedBy('a', 'q1'), ...answered('a', 'q1'), ...askedBy('a', 'q2', 2, 'q1'), ...blocked('a')],
    ],
    [
      'an attempt that goes on from an answer twice',
      'skip_downstream',
      [
        ...askedBy('a', 'q1'),
        ...answered('a', 'q1'),
        ...again('a', 2, 'q1'),
        ['operation.retried', 'a', { attempt: 2 }],
        ...again('a', 3, 'q1'),
        ended('a', 'succeeded'),
      ],
    ],
    [
      'a run that stops, with what was under way',
      'stop_run',
      [queued('a'), queued('c'), started('a'), started('c'), ...failed('a'), ended('c', 'cancelled')],
    ],
    [
      'a run that goes on when what repeats another operation fails',
      'stop_run',
      [queued('r'), started('r'), ...failed('r'), queued('c'), started('c'), ended('c', 'succeeded')],
    ],
  ])('may tell of %s (%s)', (_what, policy, given) => {
    expect(faults(given, policy)).toEqual([])
  })

  it.each<[string, ErrorPolicyName, GivenEvent[], string]>([
    [
      'a change set of an attempt that was lost, beside that of the one that counts',
      'continue',
      [queued('a'), started('a'), created, retried, queued('a', 2), started('a', 2), created, succeededWith('c1')],
      '3: operation.retried of operation a: change_set.created of c1 came before it, which it does not have',
    ],
    [
      'a change set that the outcome does not have',
      'continue',
      [queued('a'), started('a'), created, ['change_set.created', 'a', { change_set_id: 'c2' }], succeededWith('c2')],
      '3: operation.ended of operation a: change_set.created of c1 came before it, which it does not have',
    ],
    [
      'a finding that the outcome does not count',
      'continue',
      [queued('a'), started('a'), ['finding.reported', 'a'], ended('a', 'unchanged')],
      '3: operation.ended of operation a: 1 finding.reported came before it, and it has 0',
    ],
    [
      'a second dispatch of what is dispatched',
      'continue',
      [queued('a'), queued('a', 2)],
      '3: operation.queued of operation a: it was dispatched',
    ],
    [
      'a dispatch by the number of another',
      'continue',
      [queued('a', 2)],
      '3: operation.queued of operation a: dispatch 2 after dispatch 0',
    ],
    [
      'a failed end that was not announced',
      'continue',
      [queued('a'), started('a'), ended('a', 'failed')],
      '3: operation.ended of operation a: it says failed, no operation.failed came before it',
    ],
    [
      'a good end that was announced as blocked',
      'continue',
      [queued('a'), started('a'), ['operation.blocked', 'a'], ended('a', 'succeeded')],
      '3: operation.ended of operation a: it says succeeded, operation.blocked came before it',
    ],
    [
      'a start after a bad end of what it waits for',
      'stop_run',
      [queued('a'), started('a'), ended('a', 'cancelled'), queued('b'), started('b')],
      '5: operation.started of operation b: started although a, which it waits for, is cancelled',
    ],
    [
      'a start in a run that its policy has stopped',
      'stop_run',
      [queued('a'), queued('c'), started('a'), ...failed('a'), started('c')],
      '5: operation.started of operation c: started although a had stopped the run',
    ],
    [
      'a skip in a run that goes on',
      'continue',
      [queued('a'), started('a'), ...failed('a'), skipped('b', 'a')],
      '5: operation.skipped of operation b: skipped in a run that continues after errors',
    ],
    [
      'an event of an attempt that has asked',
      'continue',
      [...askedBy('a', 'q1'), ['turn.finished', 'a']],
      '4: turn.finished of operation a: it was waiting, not running',
    ],
    [
      'a suspension for another question than was asked',
      'continue',
      [...again('a', 1), ['human_input.requested', 'a', { request_id: 'q1' }], suspended('a', 'q2')],
      '3: operation.suspended of operation a: it names q2, q1 was asked last',
    ],
    [
      'an operation that goes on without an answer',
      'continue',
      [...askedBy('a', 'q1'), ['operation.resumed', 'a', { request_id: 'q1' }]],
      '3: operation.resumed of operation a: no human_input.answered came before it',
    ],
    [
      'an attempt that begins anew after an answer',
      'continue',
      [...askedBy('a', 'q1'), ...answered('a', 'q1'), ...again('a', 2)],
      '3: operation.started of operation a: it resumes undefined, q1 was asked last',
    ],
    [
      'a second answer',
      'continue',
      [...askedBy('a', 'q1'), ['human_input.answered', 'a', { request_id: 'q1' }], ...answered('a', 'q1')],
      '3: human_input.answered of operation a: it was answered before',
    ],
    [
      'an operation nobody planned',
      'continue',
      [queued('x')],
      '2: operation.queued of operation x: the operation was never planned',
    ],
  ])('must not tell of %s (%s)', (_what, policy, given, fault) => {
    expect(faults(given, policy)).toEqual([fault])
  })

  it('let an operation start after one that only had to end, but not before', () => {
    const waits = [queued('a'), started('a'), ...failed('a'), queued('d'), started('d'), ended('d', 'unchanged')]
    expect(faults(waits)).toEqual([])
    expect(faults([queued('a'), started('a'), queued('d'), started('d')])).toEqual([
      '5: operation.started of operation d: started although a, which it waits for, is running',
    ])
    expect(faults([queued('a'), started('a'), ...failed('a'), skipped('d', 'a')])).toEqual([
      '5: operation.skipped of operation d: names a, which it does not wait for',
    ])
  })

  it('say which attempts have not ended', () => {
    const fold = foldOperations({ planned, policy: 'continue' })
    for (const event of eventsOf([queued('a'), started('a'), queued('c'), started('c'), ended('c', 'unchanged')])) {
      fold.take(event)
    }
    expect(fold.running()).toEqual(['a'])
  })
})
