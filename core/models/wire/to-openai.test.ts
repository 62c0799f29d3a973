import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '#domain/turn.ts'
import { toOpenAi } from './to-openai.ts'

const tool = { name: 'read_file', description: 'Read.', parameters: { type: 'object' } }
const request: ModelRequest = {
  model: 'small',
  messages: [
    { role: 'system', content: 's' },
    { role: 'user', content: 'u' },
    { role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'read_file', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'c', content: 'r' },
    { role: 'assistant', content: null, toolCalls: [] },
  ],
  tools: [tool],
  toolChoice: { name: 'read_file' },
  temperature: 0,
  maxTokens: 10,
}

describe('toOpenAi', () => {
  it('speaks the words of the API', () => {
    expect(toOpenAi(request)).toEqual({
      model: 'small',
      temperature: 0,
      max_tokens: 10,
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: 'u' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'read_file', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'r' },
        { role: 'assistant', content: '' },
      ],
      tools: [{ type: 'function', function: tool }],
      tool_choice: { type: 'function', function: { name: 'read_file' } },
    })
  })

  it('sends neither tools nor a choice when there are none', () => {
    expect(Object.keys(toOpenAi({ ...request, tools: [] }))).toEqual(['model', 'messages', 'temperature', 'max_tokens'])
  })

  it('maps the same array of definitions once', () => {
    expect(toOpenAi(request).tools).toBe(toOpenAi({ ...request, toolChoice: 'auto' }).tools)
  })
})
