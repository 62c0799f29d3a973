import { describe, expect, it } from 'vitest'
import { eventsOf, type ToldEvent } from './events.fixture.ts'
import { foldModelCalls } from './fold-model-calls.ts'

function faults(told: readonly ToldEvent[]): string[] {
  const fold = foldModelCalls()
  for (const event of eventsOf(told)) fold.take(event)
  return fold.violations.map(({ message }) => message)
}

const asked: ToldEvent = ['model.requested', 'a']
const answered: ToldEvent = ['model.responded', 'a']
const settled: ToldEvent = ['operation.ended', 'a', { status: 'succeeded', turns: 1 }]

describe('the model’s requests and answers', () => {
  it.each<[string, ToldEvent[]]>([
    ['each request has its answer', [asked, answered, asked, answered, settled]],
    ['two operations ask at once', [asked, ['model.requested', 'b'], answered, ['model.responded', 'b']]],
    ['the worker was lost in between', [asked, ['operation.retried', 'a'], asked, answered, settled]],
    ['the ledger ended the attempt', [asked, ['operation.ended', 'a', { status: 'cancelled', cause: 'run' }]]],
  ])('are in order when %s', (_what, told) => {
    expect(faults(told)).toEqual([])
  })

  it.each<[string, ToldEvent[], string]>([
    ['a request is not answered', [asked, settled], 'event 2 operation.ended of operation a: the request of event 1'],
    ['a request follows another', [asked, asked, answered], 'event 2 model.requested of operation a: the request of'],
    [
      'one asks a person before the model has answered',
      [asked, ['operation.suspended', 'a']],
      'event 2 operation.suspended',
    ],
    ['there are two answers', [asked, answered, answered], 'event 3 model.responded of operation a: it answers no'],
  ])('are not when %s', (_what, told, fault) => {
    expect(faults(told)).toEqual([expect.stringContaining(fault)])
  })
})
