import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '#domain/turn.ts'
import { fromOpenAi, maxCalls } from './from-openai.ts'

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
      workarounds: [],
      raw,
    })
  })

  it('takes arguments sent as an object, and none', () => {
    const raw = completion({
      tool_calls: [{ function: { name: 'a', arguments: { x: 1 } } }, { id: '', function: { name: 'b' } }],
    })
    expect(fromOpenAi(raw, request).toolCalls).toEqual([
      { id: 'call00001', name: 'a', arguments: '{"x":1}' },
      { id: 'call00002', name: 'b', arguments: '{}' },
    ])
  })

  it.each([
    { tool_calls: [{ function: { name: 'read_file', arguments: '```json\n{"path": "a\nb",}\n```' } }] },
    { content: '<tool_call>\n{"name": "read_file", "arguments": {"path": "a\nb",}}\n</tool_call>' },
    { content: '[TOOL_CALLS]read_file{"path": "a\nb",}' },
    { content: '{"name": "read_file", "arguments": {"path": "a\nb",},}' },
    { content: '```json\n{"name": "read_file", "parameters": {"path": "a\nb"},}\n```' },
    { content: '<tool_call>\n<function=read_file>\n<parameter=path>\na\nb\n</parameter>\n</function>\n</tool_call>' },
    { content: '<start_function_call>call:read_file{path:<escape>a\nb<escape>}<end_function_call>' },
    { content: '{"name": "read_file", "arguments": "{\\"path\\": \\"a\\\\nb\\",}"}' },
  ])('takes a raw line break, a last comma and a fence for what they are: %j', (message) => {
    const [call] = fromOpenAi(completion(message), request).toolCalls
    expect(call).toMatchObject({ name: 'read_file', arguments: '{"path":"a\\nb"}' })
  })

  it('says where a call in the content is no JSON', () => {
    const content = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a" "b"}}\n</tool_call>'
    const { callFault, toolCalls } = fromOpenAi(completion({ content }), request)
    expect({ callFault, toolCalls }).toEqual({
      callFault: 'the call is no whole JSON: line 1, column 49, at "\\"b\\"}}": a comma or } is missing',
      toolCalls: [],
    })
  })

  it('gives every call of a conversation an id of its own, the server its own where it can', () => {
    const call = (id: string | null) => ({ id, function: { name: 'read_file', arguments: '{}' } })
    const raw = completion({ tool_calls: [call('a'), call('b'), call('b'), call(null), call('call00008')] })
    const toolCalls = [{ id: 'a', name: 'read_file', arguments: '{}' }]
    const earlier = { role: 'assistant' as const, content: null, toolCalls }
    const ids = (messages: ModelRequest['messages']) =>
      fromOpenAi(raw, { ...request, messages }).toolCalls.map(({ id }) => id)
    expect(ids([earlier])).toEqual(['call00001', 'b', 'call00002', 'call00003', 'call00008'])
    const trimmed = { ...earlier, toolCalls: [{ id: 'call00006', name: 'read_file', arguments: '{}' }] }
    expect(ids([trimmed])).toEqual(['a', 'b', 'call00007', 'call00008', 'call00009'])
  })

  it('calls nothing that stands in the content of a reply that the limit cut', () => {
    const content = 'The file says:\n```json\n{"name":"read_file","arguments":{}}\n```'
    const raw = (reason: string) => ({ choices: [{ message: { content }, finish_reason: reason }] })
    expect(fromOpenAi(raw('stop'), request)).toMatchObject({ toolCalls: [{ name: 'read_file' }] })
    expect(fromOpenAi(raw('length'), request)).toMatchObject({ content, toolCalls: [], callFault: expect.any(String) })
  })

  it('reads content that comes in parts, without the thoughts', () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: '<tool_call>{"name":"read_file"}' }] }
    const parts = [thinking, { type: 'text', text: 'Now. ' }, { type: 'text', text: 'Done.' }, { type: 'reference' }]
    expect(fromOpenAi(completion({ content: parts }), request)).toMatchObject({ content: 'Now. Done.', toolCalls: [] })
    const called = [thinking, { type: 'text', text: '{"name":"read_file","arguments":{}}' }]
    expect(fromOpenAi(completion({ content: called }), request).toolCalls).toMatchObject([{ name: 'read_file' }])
    expect(fromOpenAi(completion({ content: [thinking] }), request)).toMatchObject({ content: null })
  })

  it('refuses more calls than a reply may have, structured or written', () => {
    const structured = (count: number) =>
      completion({
        tool_calls: Array.from({ length: count }, () => ({ function: { name: 'read_file', arguments: '{}' } })),
      })
    const written = (count: number) =>
      completion({ content: '<tool_call>{"name":"read_file"}</tool_call>'.repeat(count) })
    for (const raw of [structured, written]) {
      expect(fromOpenAi(raw(maxCalls), request).toolCalls).toHaveLength(maxCalls)
      expect(() => fromOpenAi(raw(maxCalls + 1), request)).toThrow(
        expect.objectContaining({ code: 'AGENT_008', message: 'more than 64 tool calls' }),
      )
    }
  })

  it('cuts names that have no end, and takes no id that has none', () => {
    const long = `${'x'.repeat(255)}\u{1F600}${'x'.repeat(3_000_000)}`
    const call = { id: long, function: { name: long, arguments: '{}' } }
    const raw = { model: long, choices: [{ message: { tool_calls: [call] }, finish_reason: long }] }
    const name = `${'x'.repeat(255)}\uFFFD…`
    const reply = { model: name, finishReason: name, toolCalls: [{ id: 'call00001', name }] }
    expect(fromOpenAi(raw, request)).toMatchObject(reply)
    expect(fromOpenAi({ ...raw, model: 'x'.repeat(256) }, request)).toMatchObject({ model: 'x'.repeat(256) })
    const written = completion({ content: JSON.stringify({ name: long, arguments: {} }) })
    expect(fromOpenAi(written, request)).toMatchObject({ toolCalls: [{ id: 'call00001', name }] })
  })

  it('estimates tokens that were not counted, and says so', () => {
    const messages = [{ role: 'user' as const, content: 'x'.repeat(4000) }]
    const long = completion({ content: 'y'.repeat(400) })
    const { usage, workarounds } = fromOpenAi(long, { ...request, messages })
    expect(usage.promptTokens).toBeGreaterThan(1000)
    expect(usage.promptTokens).toBeLessThan(1040)
    expect(usage.completionTokens).toBeGreaterThan(100)
    expect(usage.completionTokens).toBeLessThan(110)
    expect(workarounds).toEqual(['usage estimated'])
    const half = completion({ content: 'hi' }, { usage: { prompt_tokens: 9, completion_tokens: 0 } })
    expect(fromOpenAi(half, request)).toMatchObject({ usage: { promptTokens: 9 }, workarounds: ['usage estimated'] })
    const absurd = completion({ content: 'hi' }, { usage: { prompt_tokens: 1e300, completion_tokens: 3 } })
    expect(fromOpenAi(absurd, request)).toMatchObject({ usage: { promptTokens: 15 }, workarounds: ['usage estimated'] })
  })

  it('reads no call from the content when no tool may be called', () => {
    const raw = completion({ content: '{"name":"read_file","arguments":{}}' })
    expect(fromOpenAi(raw, { ...request, toolChoice: 'none' }).toolCalls).toEqual([])
    expect(fromOpenAi(raw, { ...request, tools: [] }).toolCalls).toEqual([])
    expect(fromOpenAi(raw, request).toolCalls).toHaveLength(1)
  })

  it.each([[{}], [{ choices: [] }], [null], ['text'], [{ choices: [{}] }]])('refuses %j', (raw) => {
    expect(() => fromOpenAi(raw, request)).toThrow(expect.objectContaining({ code: 'AGENT_008' }))
  })
})
