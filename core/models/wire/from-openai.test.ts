import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '#domain/turn.ts'
import { fromOpenAi } from './from-openai.ts'

const request: ModelRequest = {
  model: 'small',
  messages: [],
  tools: [{ name: 'read_file', description: '', parameters: {} }],
  toolChoice: 'auto',
  temperature: 0,
  maxTokens: 10,
}
const completion = (message: object, rest: object = {}) => ({ choices: [{ message, finish_reason: 'stop' }], ...rest })

describe('fromOpenAi', () => {
  it('keeps what the server sent and ignores keys it does not know', () => {
    const raw = completion(
      { content: null, reasoning: 'hm', tool_calls: [{ id: 'a', function: { name: 'read_file', arguments: '{}' } }] },
      { model: 'qwen', usage: { prompt_tokens: 3, completion_tokens: 4, details: {} } },
    )
    expect(fromOpenAi(raw, request)).toEqual({
      model: 'qwen',
      content: null,
      toolCalls: [{ id: 'a', name: 'read_file', arguments: '{}' }],
      finishReason: 'stop',
      usage: { promptTokens: 3, completionTokens: 4 },
      raw,
    })
  })

  it('gives calls without an id one each, and takes arguments sent as an object', () => {
    const raw = completion({
      tool_calls: [{ function: { name: 'a', arguments: { x: 1 } } }, { id: '', function: { name: 'b' } }],
    })
    expect(fromOpenAi(raw, request).toolCalls).toEqual([
      { id: 'call_1', name: 'a', arguments: '{"x":1}' },
      { id: 'call_2', name: 'b', arguments: '{}' },
    ])
  })

  it('counts no tokens when usage is missing', () => {
    expect(fromOpenAi(completion({ content: 'hi' }), request).usage).toEqual({
      promptTokens: 0,
      completionTokens: 0,
    })
  })

  it('reads no call from the content when no tool may be called', () => {
    const raw = completion({ content: '{"name":"read_file","arguments":{}}' })
    expect(fromOpenAi(raw, { ...request, toolChoice: 'none' }).toolCalls).toEqual([])
    expect(fromOpenAi(raw, request).toolCalls).toHaveLength(1)
  })

  it.each([[{}], [{ choices: [] }], [null], ['text'], [{ choices: [{}] }]])('refuses %j', (raw) => {
    expect(() => fromOpenAi(raw, request)).toThrow(expect.objectContaining({ code: 'AGENT_008' }))
  })
})
