import { describe, expect, it } from 'vitest'
import { type EventName, eventNames } from '../events/event-table.ts'
import { isTold, summarizeEvent } from './summarize-event.ts'

const say = (event: EventName, data: Record<string, unknown> = {}) => summarizeEvent({ event, agent: 'lint', data })
const place = { path: 'src/money.py', qualified_name: 'Price.total' }

it('has one line for every event, whatever its data lacks', () => {
  for (const name of eventNames) expect(say(name), name).toMatch(/^\S.*\S$/)
  expect(say('finding.reported', { path: 'a.py', claim: 'two\nlines' })).toBe('lint a.py: two lines')
  expect(say('tool.called', place)).toBe('lint src/money.py Price.total runs a tool')
})

it('tells a person what a run came to, and not each step to it', () => {
  expect(eventNames.filter((event) => isTold({ event }))).toContain('operation.ended')
  expect(isTold({ event: 'tool.called' })).toBe(false)
})

it('says what was decided on a change set, and why', () => {
  expect(say('decision.made', { ...place, verdict: 'accepted' })).toBe('lint src/money.py Price.total: accepted')
  const rejected = { ...place, verdict: 'rejected', reason: 'too\nlong' }
  expect(say('decision.made', rejected)).toBe('lint src/money.py Price.total: rejected: too long')
  expect(say('decision.made', { ...place, verdict: 'pending' })).toBe('lint src/money.py Price.total: pending again')
})

describe('an ended operation in words', () => {
  it.each([
    ['a function', place, 'lint src/money.py Price.total'],
    ['a file', { path: 'src/money.py', qualified_name: 'money.py' }, 'lint src/money.py'],
    ['no node', {}, 'lint'],
  ])('names %s', (_name, node, work) => {
    const data = { status: 'unchanged', summary: 'There is nothing to fix.', ...node }
    expect(say('operation.ended', data)).toBe(`${work} unchanged: There is nothing to fix.`)
  })
})
