import { describe, expect, it } from 'vitest'
import type { ToolDefinition } from '#domain/turn.ts'
import { parseContent } from './parse-content.ts'

const properties = {
  path: { type: 'string' },
  count: { type: 'integer' },
  deep: { type: 'boolean' },
  tags: { type: 'array' },
  when: { anyOf: [{ type: 'number' }, { type: 'null' }] },
  label: { type: ['string', 'null'] },
}
const tools: ToolDefinition[] = [{ name: 'read', description: '', parameters: { type: 'object', properties } }]
const read = (content: string) => parseContent(content, tools)
const called = (content: string) => read(content).calls.map((call) => [call.name, call.arguments])

describe('parseContent', () => {
  it.for([
    ['{"name":"read","arguments":"{\\"path\\":1}"}', '{"path":1}'],
    ['{"type":"function","function":{"name":"read","arguments":"{}"}}', '{}'],
    ['<think>Read it.</think>\n{"name":"read","arguments":{}}', '{}'],
    ['I should read it.\n</think>\n{"name":"read","arguments":{}}', '{}'],
    ['<tool_call>{"name":"read"}</tool_call>', '{}'],
    ['<start_function_call>call:read{}<end_function_call><start_function_response>', '{}'],
    ['<function=read>\n<parameter=count>\n3\n</parameter>\n</function>', '{"count":3}'],
    ['[TOOL_CALLS]read[ARGS]{"path": "a"}', '{"path": "a"}'],
    ['<|python_tag|>{"name": "read", "parameters": {}}<|eom_id|>', '{}'],
    ['{"name": "read", "parameters": {}}<|eot_id|>\n', '{}'],
  ] as const)('reads a call from %j', ([content, args]) => {
    expect(read(content)).toEqual({ calls: [{ name: 'read', arguments: expect.any(String) }], rest: null })
    expect(JSON.parse(called(content)[0]?.[1] ?? '')).toEqual(JSON.parse(args))
  })

  it.for([
    '<|python_tag|>{"name":"read","parameters":{}}; {"name":"write","parameters":{}}',
    '[TOOL_CALLS]read[ARGS]{}[TOOL_CALLS]write{}',
    '{"name":"read","arguments":{}}\n{"name":"write","arguments":{}}',
    '```json\n{"name":"read","arguments":{}}\n```\n```json\n{"name":"write","arguments":{}}\n```',
    'Maybe <tool_call>{"name":"submit"}</tool_call>? No.\n</think>\n<tool_call>{"name":"read"}</tool_call><tool_call>{"name":"write"}</tool_call>',
  ])('reads several calls, in order, from %j', (content) => {
    expect(called(content)).toEqual([
      ['read', '{}'],
      ['write', '{}'],
    ])
  })

  it('keeps the text around calls, but not the thoughts before them', () => {
    const content = '<think>Call <tool_call>?</think>Reading. <tool_call>{"name":"read"}</tool_call><|im_end|>'
    expect(read(content)).toMatchObject({ calls: [{ name: 'read' }], rest: 'Reading.' })
    expect(read('So:\n```json\n{"name":"read","arguments":{}}\n```')).toMatchObject({ calls: [{}], rest: 'So:' })
  })

  it.for([
    'I change this:\n```python\nx = 1\n```\n<tool_call>{"name":"read","arguments":{}}</tool_call>',
    '```json\n{"name":"read","arguments":{"path":"example"}}\n```\nNow:\n<tool_call>{"name":"read"}</tool_call>',
    'As in `<tool_call>`, ``a`b`` and <start_function_call>:\n[TOOL_CALLS]read[ARGS]{}',
    '~~~\n```\n~~~\n<function=read></function>',
  ])('reads the call behind prose and code in %j', (content) => {
    expect(read(content)).toMatchObject({ calls: [{ name: 'read', arguments: '{}' }] })
    expect(read(content).calls).toHaveLength(1)
  })

  it.for([
    'The README says:\n```xml\n<tool_call>{"name":"read","arguments":{}}</tool_call>\n```\nI will not follow that.',
    'It says ``<function=read></function>``, an injection.',
    'It says `<start_function_call>call:read{}<end_function_call>',
    'An example: ```json {"name":"read","arguments":{}}```. So there is nothing to do.',
    'An example:\n```json\n{"name":"read","arguments":{}}\n```\nSo there is nothing to do.',
    'Call it: <tool_call>{"name":"app"}</tool_call>',
    'The result: {"summary":"<function=read></function>',
    'Hm.\n<think>Maybe <tool_call>{"name":"read"}</tool_call>',
  ])('calls nothing that is shown, thought of or not offered in %j', (content) => {
    expect(read(content)).toEqual({ calls: [], rest: content })
  })

  it('keeps values of FunctionGemma that are no text, also nested', () => {
    const args = 'n:-1.5e3,b:true,z:null,l:[1,<escape>x,]<escape>,[ ]],o:{k:<escape>{<escape>, m:{}},w:src/a.py'
    expect(JSON.parse(called(`<start_function_call>call:read{${args}}<end_function_call>`)[0]?.[1] ?? '')).toEqual({
      n: -1500,
      b: true,
      z: null,
      l: [1, 'x,]', []],
      o: { k: '{', m: {} },
      w: 'src/a.py',
    })
  })

  it('takes values of Qwen3-Coder as the schema wants them, and what cannot be so as text', () => {
    const given = { path: '3', count: '3', deep: 'True', tags: '["a"]', when: 'null', label: '4', other: '5' }
    const inside = Object.entries(given).map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`)
    const [call] = called(`<tool_call><function=read>${inside.join('')}</function></tool_call>`)
    expect(JSON.parse(call?.[1] ?? '')).toEqual({ ...given, count: 3, deep: true, tags: ['a'], when: null })
    expect(called('<function=read><parameter=count>many</parameter></function>')).toEqual([
      ['read', '{"count":"many"}'],
    ])
  })

  it.for([
    '',
    'null',
    '[1]',
    '{"name":"read"}',
    '{"name":"","arguments":{}}',
    '{"name":"Bob","age":3}',
    '{"status":"success","summary":"wrote <tool_call>{\\"name\\":\\"read\\"}</tool_call>"}',
    '{"a":1} {}',
    'Use <tool_call> tags, or <function=name>, for calls.',
    'An example: {"name":"read","arguments":{}}',
    'A config:\n```json\n{"name":"app","parameters":{}}\n```',
    '<think>I could <tool_call>{"name":"read"}</tool_call>',
  ])('leaves %j as the content it is', (content) => {
    expect(read(content)).toEqual({ calls: [], rest: content })
  })

  it.for([
    '{"name":"read","arguments":{}} and so on',
    '[{"name":"read","arguments":{}},3]',
    '{"tool_calls":["read"]}',
    'Now <tool_call>{"name":"read"}</tool_call> and so on',
    'A <tool_call>{"name":"read"}</tool_call> then B <tool_call>{"name":"read"}</tool_call>',
    '<tool_call>{"name":"read"}</tool_call><tool_call>{"name":"re',
    '<tool_call>{"name":"read"}</tool_call> <tool_',
    '<tool_call>{"arguments":{}}</tool_call>',
    '<start_function_call>call:read{path:a}',
    '<start_function_call>call:read{path:<escape>a}<end_function_call>',
    `<start_function_call>call:read{${'a:{'.repeat(5000)}`,
    '<tool_call><function=read></function>',
    '<tool_call><function=read><parameter=path></parameter></function></tool_call></parameter></function>',
    '[TOOL_CALLS]read[ARGS]{}[TOOL_CALLS]write[ARGS]{',
  ])('finds a fault and no call in %j', (content) => {
    expect(read(content)).toEqual({ calls: [], rest: content, fault: expect.any(String) })
  })
})
