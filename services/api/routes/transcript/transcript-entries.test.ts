import { expect, it } from 'vitest'
import type { Message } from '#domain/turn.ts'
import { transcriptEntries } from './transcript-view.ts'
import { aConversation } from './transcript.fixture.ts'

it('gives a run to the call it is of, also where a model uses one id for every call', () => {
  const calling = (name: string): Message[] => [
    { role: 'assistant', content: null, toolCalls: [{ id: 'call_0', name, arguments: '{}' }] },
    { role: 'tool', toolCallId: 'call_0', content: 'answered' },
  ]
  const messages = ['submit_result', 'read_file', 'submit_result'].flatMap(calling)
  const tools = aConversation.tools.slice(0, 1)
  const entries = [...transcriptEntries({ messages, replies: [], exchanges: [], tools }, { fullPrompts: true })]
  const runs = entries.flatMap((entry) => (entry.kind === 'tool' ? [[entry.name, entry.run?.summary]] : []))
  expect(runs).toEqual([
    ['submit_result', undefined],
    ['read_file', 'read `a.py`'],
    ['submit_result', undefined],
  ])
})

it('gives no request to calls that code made in place of a reply', () => {
  const calling = (name: string, byCode: boolean): Message[] => [
    {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: name, name, arguments: '{}', ...(byCode ? { byCode } : {}) }],
    },
    { role: 'tool', toolCallId: name, content: 'answered' },
  ]
  const messages = [...calling('look', true), ...calling('write', false), ...calling('submit_result', true)]
  const exchanges = aConversation.exchanges.slice(0, 1).map((exchange) => ({ ...exchange, turn: 2 }))
  const entries = [...transcriptEntries({ messages, replies: ['raw'], exchanges, tools: [] }, { fullPrompts: true })]
  const replies = entries.flatMap((entry) =>
    entry.kind === 'model'
      ? [[entry.turn, entry.exchange !== null, entry.reply?.raw, entry.reply?.tool_calls[0]?.by_code]]
      : [],
  )
  expect(replies).toEqual([
    [1, false, null, true],
    [2, true, 'raw', undefined],
    [3, false, null, true],
  ])
})
