import { expect, it } from 'vitest'
import { type LogEntry, openLogFollower } from './follow-log.ts'

it('what follows is kept once for all positions before the same event, however many are named', async () => {
  const [first, second] = ['2-0.1', '2-0.2'].map((id): LogEntry => ({ id, category: 'finding', json: '{}' }))
  if (first === undefined || second === undefined) throw new Error('two entries')
  const looked = Promise.withResolvers<void>()
  const log = {
    name: 'all',
    state: { last: '1-0.1', isOver: false },
    async *look() {
      yield { entries: [first, second], last: second.id }
    },
    read: async () => ({ entries: [], at: '' }),
  }
  const followed = openLogFollower({ notices: { on: () => () => {} }, lookMs: 60_000 }).follow(log, looked.resolve)
  await looked.promise
  expect(followed.recent('1-0.1')).toEqual({ entries: [first, second], at: second.id })
  expect(followed.recent('1-0.999')).toBe(followed.recent('1-0.1'))
  expect(followed.recent('1-1.7')).toBe(followed.recent('1-0.1'))
  expect(followed.recent(first.id)).toEqual({ entries: [second], at: second.id })
  followed.leave()
})
