import { expect, it } from 'vitest'
import { stepOf } from '#store/ledger/live-state.ts'
import type { AgentEvent } from '../agent/journal.ts'
import { openDoing } from './doing.ts'

const asks = (turn: number): AgentEvent => {
  const data = { turn, messages: 2, tools: 3, tool_choice: 'auto', model: 'm' }
  return { event: 'model.requested', phase: 'model', data }
}
const fails = (turn: number): AgentEvent => {
  return { event: 'model.responded', phase: 'model', status: 'error', data: { turn, duration_ms: 1, reason: 'none' } }
}
const calls = (turn: number): AgentEvent => {
  return { event: 'tool.called', phase: 'tools', toolName: 'look', data: { turn, call_id: 'c', arguments: '{}' } }
}
const returns = (turn: number): AgentEvent => {
  const data = { turn, call_id: 'c', outcome: 'success' as const, summary: 'seen' }
  return { event: 'tool.returned', phase: 'tools', toolName: 'look', data }
}

/** Returns the steps in which an attempt is seen, one after the other. */
function stepsOf(happens: readonly (AgentEvent | 'model' | 'slot' | 'proof')[]): string[] {
  const doing = openDoing()
  const seen = () => stepOf(doing.untold() ?? expect.fail('it does nothing'))
  const steps = [seen()]
  for (const next of happens) {
    if (typeof next === 'string') doing.does(next)
    else doing.after(next)
    steps.push(seen())
  }
  return steps.filter((step, at) => step !== steps[at - 1])
}

it('an attempt receives, plans, uses its tools, observes what they return, and brings its work together', () => {
  const first = [asks(1), 'model' as const, calls(1), returns(1)]
  expect(stepsOf([...first, asks(2), 'slot', 'model', calls(2), returns(2), asks(3), 'model', 'proof'])).toEqual([
    'receiving',
    'planning',
    'executing_tools',
    'observing',
    'executing_tools',
    'observing',
    'synthesizing',
  ])
})

it('a model that has called nothing yet still plans, and what another attempt has seen is observed', () => {
  expect(stepsOf([asks(1), 'model', fails(1), asks(2), 'model'])).toEqual(['receiving', 'planning'])
  expect(stepsOf([asks(4), 'model'])).toEqual(['receiving', 'observing'])
})
