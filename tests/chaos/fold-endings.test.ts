import { describe, expect, it } from 'vitest'
import { Event } from '#domain/event.ts'
import { foldEndings } from './fold-endings.ts'

const usual = {
  v: 1,
  ts: 0,
  projectId: 'default',
  runId: 'r1',
  correlationId: 'r1',
  category: 'worker_call',
  status: 'ok',
  phase: 'execution',
  origin: { kind: 'worker', id: 'w' },
}

/** `operation.started a` per line, numbered from 1; `operation.resumed a tool`: with this reason. */
function events(...lines: string[]): Event[] {
  return lines.map((line, at) => {
    const [event = '', operationId, reason] = line.split(' ')
    return Event.parse({
      ...usual,
      seq: at + 1,
      event,
      ...(operationId === undefined ? {} : { operationId }),
      data: event === 'operation.failed' ? { error_code: 'WORK_005', reason: 'none' } : { reason },
    })
  })
}

describe('the endings of a run, as its events tell them', () => {
  it('are in order when every attempt has one end and every operation one', () => {
    const told = ['operation.started a', 'operation.retried a', 'operation.started a', 'operation.failed a']
    expect(foldEndings(events(...told, 'operation.ended a', 'operation.skipped b', 'run.completed'))).toEqual({
      violations: [],
      retried: 1,
      lost: 0,
      answered: 0,
      deferred: 0,
      failures: [{ operationId: 'a', errorCode: 'WORK_005', reason: 'none' }],
      runEndings: ['run.completed'],
    })
  })

  it('are in order when an operation asked, was answered, asked again and was not', () => {
    const asked = ['operation.started a', 'human_input.requested a', 'operation.suspended a', 'run.waiting']
    const told = [...asked, 'human_input.answered a', 'operation.resumed a', ...asked, 'operation.blocked a']
    expect(foldEndings(events(...told, 'operation.ended a')).violations).toEqual([])
  })

  it('are in order when a tool took long, which is no answer of a person', () => {
    const told = [
      'operation.started a',
      'operation.suspended a tool',
      'operation.resumed a tool',
      'operation.started a',
    ]
    const endings = foldEndings(events(...told, 'operation.ended a'))
    expect(endings).toMatchObject({ violations: [], answered: 0, deferred: 1 })
  })

  it.each([
    ['ended twice', ['operation.started a', 'operation.ended a', 'operation.ended a'], 'the operation had ended'],
    ['tried after its end', ['operation.skipped a', 'operation.started a'], 'the operation had ended'],
    ['two attempts at once', ['operation.started a', 'operation.started a'], 'the attempt before it has no end'],
    ['no end', ['operation.started a', 'run.completed'], 'an attempt of a has no end'],
    ['an end without an attempt', ['operation.ended a'], 'no attempt was under way'],
    ['skipped at work', ['operation.started a', 'operation.skipped a'], 'an attempt was under way'],
    [
      'tried before the answer',
      ['operation.started a', 'operation.suspended a', 'operation.started a'],
      'its person has not answered',
    ],
    ['resumed unasked', ['operation.started a', 'operation.resumed a'], 'it waited for no person'],
    ['another answer', ['operation.started a', 'operation.suspended a', 'operation.resumed a tool'], 'for no tool'],
    ['two ends of the run', ['run.completed', 'run.failed'], 'the run ended as run.completed and run.failed'],
  ])('tell of %s', (_case, lines, violation) => {
    expect(foldEndings(events(...lines)).violations.join('\n')).toContain(violation)
  })

  it('tell of a gap in the numbers', () => {
    expect(foldEndings(events('run.started', 'run.completed').slice(1)).violations).toEqual([
      'event 2 stands at place 1',
    ])
  })
})
