import { describe, expect, it } from 'vitest'
import { eventsOf, type GivenEvent } from './events.fixture.ts'
import { foldModelCalls } from './fold-run.ts'

function faults(given: readonly GivenEvent[]): string[] {
  const fold = foldModelCalls()
  for (const event of eventsOf(given)) fold.take(event)
  return fold.violations.map(({ message }) => message)
}

const asked: GivenEvent = ['model.requested', 'a']
const answered: GivenEvent = ['model.responded', 'a']
const settled: GivenEvent = ['operation.ended', 'a', { status: 'succeeded', turns: 1 }]

describe('the model’s requests and answers', () => {
  it.each<[string, GivenEvent[]]>([
    ['each request has its answer', [asked, answered, asked, answered, settled]],
    ['two operations ask at once', [asked, ['model.requested', 'b'], answered, ['model.responded', 'b']]],
    ['the worker was lost in between', [asked, ['operation.retried', 'a'], asked, answered, settled]],
    ['the ledger ended the attempt', [asked, ['operation.ended', 'a', { status: 'cancelled', cause: 'run' }]]],
  ])('are in order when %s', (_what, given) => {
    expect(faults(given)).toEqual([])
  })

  it.each<[string, GivenEvent[], string]>([
    ['a request is not answered', [asked, settled], 'event 2 operation.ended of operation a: the request of event 1'],
    ['a request follows another', [asked, asked, answered], 'event 2 model.requested of operation a: the request of'],
    [
      'one asks a person before the model has answered',
      [asked, ['operation.suspended', 'a']],
      'event 2 operation.suspended',
    ],
    ['there are two answers', [asked, answered, answered], 'event 3 model.responded of operation a: it answers no'],
  ])('are not when %s', (_what, given, fault) => {
    expect(faults(given)).toEqual([expect.stringContaining(fault)])
  })
})
