import { describe, expect, it } from 'vitest'
import type { Message, ModelRequest } from '#domain/turn.ts'
import { allCapabilities, type Capabilities } from './capabilities.ts'
import { fromOpenAi } from './from-openai.ts'
import { toOpenAi } from './to-openai.ts'

const parameters = { type: 'object', properties: { path: { const: 'a' } }, additionalProperties: false }
const tool = { name: 'read_file', description: 'Read.', parameters }
const submit = { name: 'submit_result', description: 'Submit.', parameters: { type: 'object' } }
const request: ModelRequest = {
  model: 'small',
  messages: [
    { role: 'system', content: 's' },
    { role: 'user', content: 'u' },
    { role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'read_file', arguments: '{"path":"a"}' }] },
    { role: 'tool', toolCallId: 'c', content: 'r' },
  ],
  tools: [tool, submit],
  toolChoice: { name: 'submit_result' },
  temperature: 0,
  maxTokens: 10,
}

function converted(lacking: Partial<Capabilities>, changed: Partial<ModelRequest> = {}) {
  const { body, workarounds } = toOpenAi(
    { ...request, ...changed },
    { ...allCapabilities, ...lacking },
    { stream: false },
  )
  const last = body.messages.at(-1)?.content
  return {
    body,
    workarounds,
    last,
    offered: body.tools?.map((offer) => (offer.type === 'function' ? offer.function.name : '')),
  }
}

describe('a server that takes everything', () => {
  it('is spoken to in the words of the API', () => {
    const empty: Message = { role: 'assistant', content: null, toolCalls: [] }
    expect(converted({}, { messages: [...request.messages, empty] })).toMatchObject({
      workarounds: [],
      body: {
        model: 'small',
        temperature: 0,
        max_tokens: 10,
        messages: [
          { role: 'system', content: 's' },
          { role: 'user', content: 'u' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: 'r' },
          { role: 'assistant', content: '' },
        ],
        tools: [
          { type: 'function', function: { ...tool, strict: true } },
          { type: 'function', function: { ...submit, strict: true } },
        ],
        tool_choice: { type: 'function', function: { name: 'submit_result' } },
      },
    })
  })

  it('gets neither tools nor a choice when there are none, whatever is asked of them', () => {
    const { body } = converted(
      {},
      { tools: [], toolChoice: 'required', constraint: 'json_schema', parallelCalls: false },
    )
    expect(Object.keys(body)).toEqual(['model', 'messages', 'temperature', 'max_tokens'])
  })

  it('gets schemas that hold a call to its tokens', () => {
    const noted = { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] }
    const { body } = converted({}, { tools: [{ ...tool, parameters: noted }], maxTokens: 200 })
    expect(body.tools).toMatchObject([{ function: { parameters: { properties: { note: { maxLength: 256 } } } } }])
  })

  it('sends parallel_tool_calls only when the request says so', () => {
    expect(converted({}).body).not.toHaveProperty('parallel_tool_calls')
    expect(converted({}, { parallelCalls: false }).body).toMatchObject({ parallel_tool_calls: false })
  })
})

describe('tool_choice', () => {
  it('with a name becomes required with that tool alone', () => {
    const { body, offered, workarounds } = converted({ named: false })
    expect(body.tool_choice).toBe('required')
    expect(offered).toEqual(['submit_result'])
    expect(workarounds).toEqual(['tool_choice submit_result: required, with that tool alone'])
  })

  it('required becomes text held to the schema of one call, which the parser reads as a call', () => {
    const { body, workarounds, last } = converted({ named: false, required: 'none' }, { toolChoice: 'required' })
    expect(body.tool_choice).toBe('none')
    expect(body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: {
        schema: {
          anyOf: [
            { properties: { name: { enum: ['read_file'] }, arguments: parameters }, required: ['name', 'arguments'] },
            { properties: { name: { enum: ['submit_result'] } } },
          ],
        },
      },
    })
    expect(last).toMatch(/^r\n\nAnswer with one tool call as this JSON .* Tools: read_file, submit_result\.$/)
    expect(workarounds).toEqual(['tool_choice required: text held to the schema of a call'])
    const reply = { choices: [{ message: { content: '{"name":"read_file","arguments":{"path":"a"}}' } }] }
    expect(fromOpenAi(reply, request).toolCalls).toMatchObject([{ name: 'read_file', parsedFromContent: true }])
  })

  it('is asked for in words where nothing holds the model to it', () => {
    const lacking = { named: false, required: 'none', jsonSchema: false } as const
    const native = converted(lacking)
    expect([native.body.tool_choice, native.offered]).toEqual(['auto', ['submit_result']])
    expect(native.last).toContain('Call one of these tools now and say nothing else: submit_result.')
    const asText = converted({ ...lacking, auto: false })
    expect(asText.body.tool_choice).toBe('none')
    expect(asText.last).toContain('Answer with one tool call as this JSON')
    expect(asText.workarounds).toEqual(['tool_choice submit_result: asked for in words'])
  })

  it('required becomes text held to the schema where text may run on before a call, and stays where nothing holds it', () => {
    for (const toolChoice of ['required', { name: 'submit_result' }] as const) {
      const { body } = converted({ required: 'loose' }, { toolChoice })
      expect([body.tool_choice, body.response_format?.type]).toEqual(['none', 'json_schema'])
      const unheld = converted({ required: 'loose', jsonSchema: false }, { toolChoice })
      expect([unheld.body.tool_choice, unheld.workarounds]).toEqual([
        converted({}, { toolChoice }).body.tool_choice,
        [],
      ])
    }
    expect(converted({ required: 'loose' }, { toolChoice: 'auto' }).body.tool_choice).toBe('auto')
  })

  it('auto stays a choice', () => {
    const { body, last, workarounds } = converted({ auto: false }, { toolChoice: 'auto' })
    expect(body.tool_choice).toBe('none')
    expect(last).toContain('To call a tool, answer with this JSON')
    expect(workarounds).toEqual(['tool_choice auto: asked for in words'])
  })

  it('is not sent to a server that takes no tools: they are described at the beginning, which turns share', () => {
    const { body, workarounds } = converted({ tools: false, toolMessages: false }, { toolChoice: 'required' })
    expect(body).not.toHaveProperty('tools')
    expect(body).not.toHaveProperty('tool_choice')
    expect(body.messages[0]?.content).toBe(`s\n\nTools:\n${JSON.stringify(tool)}\n${JSON.stringify(submit)}`)
    expect(body.response_format?.type).toBe('json_schema')
    expect(workarounds).toContain('tools: described in the prompt')
  })
})

describe('the history', () => {
  it('goes as plain text, in turns, where the template has no tool messages', () => {
    const more: ModelRequest['messages'] = [
      ...request.messages,
      { role: 'assistant', content: 'I look.', toolCalls: [{ id: 'd', name: 'write_file', arguments: '{"pa' }] },
      { role: 'tool', toolCallId: 'd', content: 'no' },
      { role: 'user', content: 'Go on.' },
    ]
    const { body, workarounds } = converted({ toolMessages: false }, { messages: more })
    expect(body.messages).toEqual([
      { role: 'system', content: 's' },
      { role: 'user', content: 'u' },
      { role: 'assistant', content: '{"name":"read_file","arguments":{"path":"a"}}' },
      { role: 'user', content: 'Result of read_file: r' },
      { role: 'assistant', content: 'I look.\n{"name":"write_file","arguments":"{\\"pa"}' },
      { role: 'user', content: 'Result of write_file: no\n\nGo on.' },
    ])
    expect(workarounds).toEqual(['tool messages: as plain text'])
  })

  it.each(['{"pa', '', '"a"', '[]'])(
    'has {} where a model wrote the arguments %j, and keeps what it wrote',
    (given) => {
      const call = { id: 'd', name: 'write_file', arguments: given }
      const more: ModelRequest['messages'] = [
        ...request.messages,
        { role: 'assistant', content: null, toolCalls: [call] },
        { role: 'tool', toolCallId: 'd', content: 'The arguments are not valid JSON.' },
      ]
      expect(converted({}, { messages: more }).body.messages.at(-2)).toMatchObject({
        tool_calls: [{ id: 'd', function: { name: 'write_file', arguments: '{}' } }],
      })
      expect(call.arguments).toBe(given)
    },
  )

  it('begins with the system prompt in the first message of the user where there is no system role', () => {
    const { body, workarounds } = converted({ systemRole: false })
    expect(body.messages.slice(0, 2)).toMatchObject([{ role: 'user', content: 's\n\nu' }, { role: 'assistant' }])
    expect(workarounds).toEqual(['system message: in the first message of the user'])
  })

  it('is not changed by what a workaround adds to one request', () => {
    const before = structuredClone(request.messages)
    converted({ required: 'none', named: false, tools: false, systemRole: false, toolMessages: false })
    expect(request.messages).toEqual(before)
  })
})

describe('schemas', () => {
  it('go in the plainest words where strict ones are refused', () => {
    const { body, workarounds } = converted({ strictSchemas: false })
    expect(body.tools?.[0]).toMatchObject({
      function: { parameters: { type: 'object', properties: { path: { enum: ['a'] } } } },
    })
    expect(JSON.stringify(body.tools)).not.toContain('additionalProperties')
    expect(workarounds).toEqual(['strict schemas: without additionalProperties'])
  })

  it('are not said to be strict where that is refused', () => {
    const { body, workarounds } = converted({ strictArguments: false })
    expect(body.tools).toMatchObject([{ function: { parameters } }, {}])
    expect(JSON.stringify(body.tools)).not.toContain('"strict"')
    expect(workarounds).toEqual(['strict: not sent'])
  })
})

describe('a constraint', () => {
  it('json_schema holds the text to one call', () => {
    const { body, workarounds } = converted({}, { constraint: 'json_schema', toolChoice: 'required' })
    expect([body.tool_choice, body.response_format?.type, workarounds]).toEqual(['none', 'json_schema', []])
  })

  it.each(['required', 'auto'] as const)("of the bundle's own goes as it is with tool_choice %s", (toolChoice) => {
    const constraint = { structural_tag: '{"type":"structural_tag"}', more: 1 }
    const { body, last, workarounds } = converted({}, { constraint, toolChoice })
    expect(body).toMatchObject({ structured_outputs: constraint, skip_special_tokens: false, tool_choice: 'none' })
    expect([body.tools?.length, last, workarounds]).toEqual([2, 'r', []])
  })

  it("of the bundle's own leaves a turn of one tool to that, and a server that lacks it to tool_choice", () => {
    const constraint = { choice: ['a'] }
    const named = converted({}, { constraint })
    expect(named).toEqual(converted({}, {}))
    const lacking = converted({ structuredOutputs: false }, { constraint, toolChoice: 'required' })
    expect(lacking.body).toEqual(converted({}, { toolChoice: 'required' }).body)
    expect(lacking.workarounds).toEqual(['structured_outputs: not sent'])
  })

  it('holds a call to its tokens, and says where the server takes no bound', () => {
    const tools = [{ ...tool, parameters: { type: 'object', properties: { note: { type: 'string' } } } }]
    const asked = { tools, toolChoice: 'required', maxTokens: 200, constraint: 'json_schema' } as const
    const { body, workarounds } = converted({}, asked)
    expect([JSON.stringify(body.response_format), workarounds]).toEqual([expect.stringContaining('maxLength":256'), []])
    const open = converted({ lengths: 'none' }, asked)
    expect(JSON.stringify(open.body.response_format)).not.toContain('maxLength')
    expect(open.workarounds).toEqual(['lengths: some texts are not bounded'])
  })

  it('that is not served becomes tool_choice, and is said', () => {
    const { body, workarounds } = converted(
      { jsonSchema: false },
      { constraint: 'json_schema', toolChoice: 'required' },
    )
    expect(body.tool_choice).toBe('required')
    expect(workarounds).toEqual(['json_schema: not served, tool_choice instead'])
  })
})
