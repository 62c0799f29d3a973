import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '#domain/turn.ts'
import { allCapabilities, type Capabilities } from './capabilities.ts'
import { fromOpenAi } from './from-openai.ts'
import { toOpenAi } from './to-openai.ts'

const look = { name: 'look', description: 'Look.', parameters: { type: 'object', properties: {} } }
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const write = { name: 'write', description: 'Write.', parameters: text }
const pattern = '^The `[a-z]+` [a-z ]{3,40}[.]$'
const argumentsOf = { ...write, parameters: { ...text, properties: { text: { type: 'string', pattern } } } }
const request: ModelRequest = {
  model: 'small',
  messages: [
    { role: 'system', content: 's' },
    { role: 'user', content: 'u' },
    { role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'look', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'c', content: 'r' },
  ],
  tools: [look, write],
  toolChoice: { name: 'write' },
  argumentsOf,
  temperature: 0,
  maxTokens: 200,
}
const converted = (lacking: Partial<Capabilities>, constraint?: ModelRequest['constraint']) =>
  toOpenAi({ ...request, constraint }, { ...allCapabilities, ...lacking }, { stream: false })

describe('arguments that are asked for alone', () => {
  it('are the reply of a server that holds text to a schema, and nothing in the request speaks of tools', () => {
    const { body, workarounds } = converted({ required: 'loose' })
    expect(body).not.toHaveProperty('tools')
    expect(body.response_format?.json_schema.schema).toMatchObject({ properties: { text: { pattern } } })
    expect(JSON.stringify(body.messages)).not.toMatch(/write|tool_call/)
    expect(body.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(workarounds).toEqual(['tool messages: as plain text'])
  })

  it("are held to the bundle's own constraint in place of their schema, where the server takes it", () => {
    const constraint = { regex: 'The .*' }
    const { body, workarounds } = converted({}, constraint)
    expect([body.structured_outputs, body.response_format, body.tool_choice]).toEqual([
      constraint,
      undefined,
      undefined,
    ])
    expect(workarounds).toEqual(['tool messages: as plain text'])
    const lacking = converted({ structuredOutputs: false }, constraint)
    expect([lacking.body.structured_outputs, lacking.body.response_format?.type]).toEqual([undefined, 'json_schema'])
    expect(lacking.workarounds).toContain('structured_outputs: not sent')
  })

  it('are held to their lengths alone where the server refused more', () => {
    const { body } = converted({ lengths: 'none' })
    expect(body.response_format?.json_schema.schema).toMatchObject({ properties: { text: { type: 'string' } } })
    expect(JSON.stringify(body)).not.toContain('pattern')
  })

  it('are asked for as a call where text is held to no schema', () => {
    const { body } = converted({ jsonSchema: false })
    expect(body.tool_choice).toEqual({ type: 'function', function: { name: 'write' } })
  })

  it('are read as the call, and so is the call itself', () => {
    const read = (content: string, finish = 'stop') =>
      fromOpenAi({ choices: [{ message: { content }, finish_reason: finish }] }, request).toolCalls
    const call = { name: 'write', arguments: '{"text":"a"}', parsedFromContent: true }
    expect(read('{"text":"a"}')).toMatchObject([call])
    expect(read('{"name":"write","arguments":{"text":"a"}}')).toMatchObject([call])
    for (const other of ['{}', '{"other":1}', '"text"', '{"text":"a', 'The text is a.']) expect(read(other)).toEqual([])
  })
})
