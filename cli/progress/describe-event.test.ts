import { describe, expect, it } from 'vitest'
import { describeEvent } from './describe-event.ts'
import { eventsOf } from './events.fixture.ts'

function wordsOf(data: Record<string, unknown>) {
  const [event] = eventsOf([{ event: 'operation.ended', operation_id: 'o1', agent: 'lint', data }])
  return event === undefined ? undefined : describeEvent(event)
}
const unchanged = { status: 'unchanged', summary: 'There is nothing to fix.' }

it('says what was decided on a change set, and why', () => {
  const place = { path: 'src/money.py', qualified_name: 'Price.total' }
  const say = (data: Record<string, unknown>) => {
    const [event] = eventsOf([{ event: 'decision.made', agent: 'lint', data: { ...place, ...data } }])
    return event && describeEvent(event)
  }
  expect(say({ verdict: 'accepted' })).toBe('lint src/money.py Price.total: accepted')
  expect(say({ verdict: 'rejected', reason: 'too\nlong' })).toBe('lint src/money.py Price.total: rejected: too long')
  expect(say({ verdict: 'pending' })).toBe('lint src/money.py Price.total: pending again')
})

describe('an ended operation in words', () => {
  it.each([
    ['a function', { path: 'src/money.py', qualified_name: 'Price.total' }, 'lint src/money.py Price.total'],
    ['a file', { path: 'src/money.py', qualified_name: 'money.py' }, 'lint src/money.py'],
    ['no node, as events of older runs do', {}, 'lint'],
  ])('names %s', (_name, node, work) => {
    expect(wordsOf({ ...unchanged, ...node })).toBe(`${work} unchanged: There is nothing to fix.`)
  })
})
