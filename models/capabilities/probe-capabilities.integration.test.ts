import { afterEach, describe, expect, it } from 'vitest'
import { OpenAiClient } from '../http/openai-client.ts'
import { openUndiciFetch, type UndiciFetch } from '../http/undici-fetch.ts'
import { allCapabilities } from '../wire/capabilities.ts'
import { capabilitiesOf, lacksOf, nothingProbed, type ProbedCapabilities } from './probed-capabilities.ts'
import { playServer, type PlayedAnswer, type PlayedBody, type PlayedServer } from './played-server.fixture.ts'
import { probeCapabilities } from './probe-capabilities.ts'

const hello = { content: 'Hello!' }
const writtenCall = { content: '{"name": "remora_probe", "arguments": {"word": "hello"}}' }
const isNamed = ({ tool_choice: choice }: PlayedBody) => typeof choice === 'object'
const wantsCall = (body: PlayedBody) => body.tool_choice === 'required' || isNamed(body)

/**
 * vLLM with its parser: required and named are held to a schema. It refuses constraints together with a named choice
 * (check_structured_outputs_count of its chat protocol).
 */
function vllm(body: PlayedBody): PlayedAnswer {
  if (body.stream_options !== undefined && body.stream !== true) return { status: 400 }
  if (body.structured_outputs !== undefined && isNamed(body)) return { status: 400 }
  if (body.structured_outputs !== undefined || body.response_format !== undefined) return writtenCall
  return wantsCall(body) ? 'call' : hello
}

/** Without --enable-auto-tool-choice and --tool-call-parser. */
function plainVllm(body: PlayedBody): PlayedAnswer {
  const words = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
  return body.tools !== undefined && body.tool_choice === 'auto' ? { status: 400, words } : vllm(body)
}

/** Gemma 3's own template under vLLM: no tool messages; Gemma 2's: no system role either. */
function gemma2(body: PlayedBody): PlayedAnswer {
  const words = 'Conversation roles must alternate user/assistant/user/assistant/...'
  const isRefused = body.messages.some(({ role }) => role === 'tool' || role === 'system')
  return isRefused ? { status: 400, words } : vllm(body)
}

/** llama-server --jinja: a named choice means auto (ggml-org/llama.cpp issue 26535), and it does not know structured_outputs. */
function llamaCpp(body: PlayedBody): PlayedAnswer {
  if (body.response_format !== undefined) return writtenCall
  return body.tool_choice === 'required' ? 'call' : hello
}

/** The same with a model that says a word before its call, and with its limit of repetitions in a grammar. */
function politeLlamaCpp(body: PlayedBody): PlayedAnswer {
  const lengths = JSON.stringify(body).matchAll(/"maxLength":(\d+)/g)
  if ([...lengths].some(([, length]) => Number(length) >= 2000)) return { status: 400 }
  const answer = llamaCpp(body)
  return answer === 'call' ? { content: `Hello!\n${writtenCall.content}` } : answer
}

/** As the base model Gemma 3 270M was seen to go on, whatever it is asked. */
const chatter = { content: 'Say hello in one word. Do not call a tool.<|im_end|>', finishReason: 'length' }

/** llama-server with a template with tools: the model may write any text before the call that is required. */
function chattyLlamaCpp(body: PlayedBody): PlayedAnswer {
  const answer = llamaCpp(body)
  return answer === 'call' || answer === hello ? chatter : answer
}

/** llama-server with a model file without a template: it takes tools and every tool_choice, and tells the model of none. */
function llamaCppWithoutTemplate(body: PlayedBody): PlayedAnswer {
  const isHeld = body.response_format !== undefined
  return { ...(isHeld ? { content: '{\n    "name": "remora_probe",\n    "arg' } : chatter), deaf: true }
}

/** OpenAI refuses strict tools with an argument that may be absent. */
function openAi(body: PlayedBody): PlayedAnswer {
  return body.tools?.some((tool) => tool.function.strict) ? { status: 400 } : vllm(body)
}

/** llama-server --no-jinja: 500 also for what the client got wrong (ggml-org/llama.cpp issue 10920). */
function llamaCppWithoutJinja(body: PlayedBody): PlayedAnswer {
  return body.tools === undefined ? llamaCpp(body) : { status: 500, words: 'tools param requires --jinja flag' }
}

/** Reads no tool_choice (ollama/ollama issue 17921) and no field it does not know. */
function ollama(body: PlayedBody): PlayedAnswer {
  return body.response_format === undefined ? hello : writtenCall
}

/** ollama/ollama issue 6027. */
function ollamaWithoutTools(body: PlayedBody): PlayedAnswer {
  return body.tools === undefined ? ollama(body) : { status: 400, words: 'gemma3 does not support tools' }
}

/** A gateway that knows OpenAI's older fields only. */
function narrowGateway(body: PlayedBody): PlayedAnswer {
  const isStrict = JSON.stringify(body.tools ?? []).includes('additionalProperties')
  const isNew = body.parallel_tool_calls !== undefined || body.response_format !== undefined
  if (isStrict || isNew || body.structured_outputs !== undefined) return { status: 422 }
  if (body.stream_options !== undefined) return { status: 501 }
  return wantsCall(body) ? 'call' : hello
}

let server: PlayedServer | undefined
let transport: UndiciFetch | undefined
afterEach(async () => {
  await transport?.close()
  server?.close()
})

type How = { timeoutMs?: number; probeMs?: number; known?: ProbedCapabilities }

async function probe(play: (body: PlayedBody) => PlayedAnswer, how: How = {}) {
  const { timeoutMs = 10_000, probeMs = 30_000, known = nothingProbed } = how
  server = await playServer(play)
  transport = openUndiciFetch({ maxBytes: 1_000_000 })
  const client = new OpenAiClient({
    url: server.url,
    apiKey: undefined,
    requestTimeoutMs: timeoutMs,
    fetch: transport.fetch,
  })
  const probed = structuredClone(known)
  await probeCapabilities('small', probed, { client, timeoutMs, probeMs, closing: new AbortController().signal })
  const [capabilities, lacks] = [capabilitiesOf(probed), lacksOf(probed)]
  return { capabilities, lacks, unclear: probed.unclear, probed, bodies: server.bodies }
}

describe('the probe', () => {
  it('finds nothing amiss with a server that takes everything, in a dozen marked requests of few tokens', async () => {
    const { capabilities, lacks, unclear, bodies } = await probe(vllm)
    expect({ capabilities, lacks, unclear }).toEqual({ capabilities: allCapabilities, lacks: {}, unclear: [] })
    expect(bodies.length).toBeLessThanOrEqual(14)
    expect(new Set(bodies.map(({ user }) => user))).toEqual(new Set(['remora probe']))
  })

  it.each([
    ['vLLM without --enable-auto-tool-choice', plainVllm, { auto: 'refused' }],
    ['OpenAI', openAi, { strictArguments: 'refused' }],
    ["Gemma's template", gemma2, { systemRole: 'refused', toolMessages: 'refused' }],
    ['llama-server --jinja', llamaCpp, { named: 'ignored', structuredOutputs: 'ignored' }],
    [
      'llama-server with a model that talks',
      chattyLlamaCpp,
      { required: 'ignored', named: 'ignored', structuredOutputs: 'ignored' },
    ],
    ['Ollama', ollama, { required: 'ignored', named: 'ignored', structuredOutputs: 'ignored' }],
    [
      'a gateway of older fields',
      narrowGateway,
      {
        strictSchemas: 'refused',
        parallelCalls: 'refused',
        jsonSchema: 'refused',
        structuredOutputs: 'refused',
        streamUsage: 'refused',
      },
    ],
  ])('finds out what %s lacks', async (_name, play, lacks) => {
    const probed = await probe(play)
    expect({ lacks: probed.lacks, unclear: probed.unclear }).toEqual({ lacks, unclear: [] })
  })

  it.each([
    ['llama-server without --jinja', llamaCppWithoutJinja],
    ['Ollama with a model that has no tools', ollamaWithoutTools],
  ])('finds that %s takes no tools, but answers in JSON', async (_name, play) => {
    const { capabilities, lacks } = await probe(play)
    expect(lacks).toMatchObject({ tools: 'refused', toolMessages: 'refused' })
    expect(capabilities).toMatchObject({ tools: false, jsonSchema: true })
  })

  it('finds that a template drops tools when prompts are no longer with them', async () => {
    const { capabilities, lacks } = await probe(llamaCppWithoutTemplate)
    expect(lacks).toMatchObject({ tools: 'ignored', required: 'ignored', named: 'ignored', toolMessages: 'ignored' })
    expect(capabilities).toMatchObject({ tools: false, jsonSchema: true })
  })

  it('finds that text may come before a call, and how long a text may be bounded', async () => {
    const { capabilities, lacks, bodies } = await probe(politeLlamaCpp)
    expect(capabilities).toMatchObject({ required: 'loose', lengths: 'short' })
    expect(lacks).toEqual({ named: 'ignored', structuredOutputs: 'ignored' })
    expect(bodies.length).toBeLessThanOrEqual(16)
  })

  it('finds that no text may be bounded, in the form in which a call is held', async () => {
    const refuses = (body: PlayedBody) => JSON.stringify([body.tools, body.response_format]).includes('"maxLength"')
    const probed = await probe((body) => (refuses(body) ? { status: 400 } : vllm(body)))
    expect([probed.capabilities.lengths, probed.lacks]).toEqual(['none', { lengths: 'refused' }])
    server?.close()
    const { bodies } = await probe(chattyLlamaCpp)
    const bounded = bodies.filter((body) => JSON.stringify(body).includes('maxLength'))
    expect(bounded).toMatchObject([{ response_format: { type: 'json_schema' }, tool_choice: 'none' }])
  })

  it.each([
    ['is overloaded', { status: 503 }],
    ['limits rates', { status: 429 }],
    ['is broken', { status: 500 }],
    ['does not know the model', { status: 404 }],
  ] as const)('assumes everything of a server that %s, and knows that it knows nothing', async (_what, answer) => {
    const { capabilities, unclear, bodies } = await probe(() => answer)
    expect([capabilities, unclear]).toEqual([allCapabilities, nothingProbed.unclear])
    expect(bodies.length).toBeLessThanOrEqual(2)
  })

  it('assumes what it could not find out in time or for load', async () => {
    const play = (body: PlayedBody) =>
      isNamed(body) ? 'hang' : body.structured_outputs ? { status: 503 } : plainVllm(body)
    const { capabilities, lacks, unclear } = await probe(play, { timeoutMs: 1000 })
    expect([lacks, unclear]).toEqual([{ auto: 'refused' }, ['tools', 'named', 'structuredOutputs']])
    expect(capabilities.named).toBe(true)
  })

  it.each([
    ['a plain request', ({ stream }: PlayedBody) => stream !== true],
    ['a streamed request', ({ stream }: PlayedBody) => stream === true],
  ])('waits no longer than for any answer for one to %s that begins and never goes on', async (_what, isHung) => {
    const play = (body: PlayedBody) => (isHung(body) ? 'headers only' : vllm(body))
    const { unclear } = await probe(play, { timeoutMs: 200 })
    expect(unclear).toContain('streamUsage')
  })

  it('ends in time as a whole, with what it has found by then', async () => {
    const play = (body: PlayedBody) => (body.response_format === undefined ? plainVllm(body) : 'headers only')
    const { lacks, unclear } = await probe(play, { timeoutMs: 60_000, probeMs: 1500 })
    expect(lacks).toMatchObject({ auto: 'refused' })
    expect(unclear).toContain('jsonSchema')
  })

  it('asks again only for what is unclear, and keeps what it knew when it learns nothing', async () => {
    const known: ProbedCapabilities = {
      support: { named: 'refused', required: 'ignored' },
      unclear: ['named'],
      misses: 1,
    }
    const { bodies, lacks } = await probe(vllm, { known })
    expect(bodies).toHaveLength(2)
    expect(lacks).toEqual({ required: 'ignored' })
    server?.close()
    const back = await probe(vllm, {
      known: { support: { jsonSchema: 'refused' }, unclear: ['jsonSchema'], misses: 0 },
    })
    expect(back.lacks).toEqual({})
    server?.close()
    const busy = await probe(() => ({ status: 429 }), { known })
    expect(busy.probed).toEqual(known)
  })

  it('tells the template of Mistral an id that it takes', async () => {
    const ids: unknown[] = []
    await probe((body) => {
      for (const { tool_call_id: id } of body.messages) if (id !== undefined) ids.push(id)
      return vllm(body)
    })
    expect(ids).toEqual([expect.stringMatching(/^[A-Za-z0-9]{9}$/)])
  })

  it('does not take one passing 500 for a refusal', async () => {
    let failed = false
    const { lacks } = await probe((body) => {
      if (failed || body.tool_choice !== 'required') return vllm(body)
      failed = true
      return { status: 500 }
    })
    expect(lacks).toEqual({})
  })
})
