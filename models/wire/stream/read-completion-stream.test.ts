import { fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { openCompletionStream } from '../completion-client.ts'

type Delta = { content?: string | null | object[]; tool_calls?: object[]; [key: string]: unknown }

const chunk = (delta: Delta, rest: object = {}) =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null }],
    ...rest,
  })
const finish = (reason = 'stop') => JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const events = (...parts: string[]) => parts.map((part) => `data: ${part}\n\n`).join('')

function read(text: string) {
  const stream = openCompletionStream()
  stream.feed(text)
  return stream.end()
}
const callsOf = (...deltas: object[]) => {
  const parts = deltas.map((delta) => chunk({ tool_calls: [delta] }))
  const completion = read(events(...parts, finish('tool_calls')))
  const message: { tool_calls: { id: string; function: object }[] } = JSON.parse(JSON.stringify(completion)).choices[0]
    .message
  return message.tool_calls.map((call) => ({ id: call.id, ...call.function }))
}

describe('openCompletionStream', () => {
  it('answers what the server would have answered unstreamed', () => {
    const text = events(
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'I ' }),
      chunk({ reasoning_content: 'think.' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({}, { usage: null }),
      finish(),
      JSON.stringify({ choices: [], usage, timings: { predicted_n: 4 } }),
      '[DONE]',
    )
    expect(read(text)).toEqual({
      id: 'x',
      object: 'chat.completion',
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', reasoning_content: 'I think.' },
          finish_reason: 'stop',
        },
      ],
      usage,
      timings: { predicted_n: 4 },
    })
  })

  it('takes the last usage where every chunk has one', () => {
    const growing = (tokens: number) => chunk({ content: 'a' }, { usage: { ...usage, completion_tokens: tokens } })
    expect(read(events(growing(1), growing(2), finish()))).toMatchObject({ usage: { completion_tokens: 2 } })
  })

  it('reads several choices apart', () => {
    const part = (index: number, content: string) =>
      JSON.stringify({ choices: [{ index, delta: { content }, finish_reason: null }] })
    const end = JSON.stringify({ choices: [0, 1].map((index) => ({ index, delta: {}, finish_reason: 'stop' })) })
    expect(read(events(part(1, 'b'), part(0, 'a'), part(1, 'B'), end))).toMatchObject({
      choices: [{ message: { content: 'a' } }, { message: { content: 'bB' } }],
    })
  })

  it.for([
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['bare CR', (text: string) => text.replaceAll('\n', '\r')],
    ['no space', (text: string) => text.replaceAll('data: ', 'data:')],
    ['comments', (text: string) => text.replaceAll('data: ', ': ping\n\nevent: chunk\ndata: ')],
    ['data in several lines', (text: string) => text.replaceAll('"choices"', '\ndata: "choices"')],
    ['a byte order mark', (text: string) => `\uFEFF${text}`],
    ['no empty line at the end', (text: string) => text.trimEnd()],
    ['no [DONE]', (text: string) => text.replace('data: [DONE]\n\n', '')],
    ['no [DONE] and no end of the line', (text: string) => text.replace('\n\ndata: [DONE]\n\n', '')],
    ['more after [DONE]', (text: string) => `${text}data: nonsense\n\n`],
  ] as const)('reads a stream with %s, cut anywhere', ([_what, framed]) => {
    const text = framed(events(chunk({ content: 'é👍' }), chunk({ content: '\n' }), finish(), '[DONE]'))
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 30 }), (cuts) => {
        const stream = openCompletionStream()
        const ends = [0, ...cuts.toSorted((left, right) => left - right), text.length]
        for (const [at, end] of ends.slice(1).entries()) stream.feed(text.slice(ends[at], end))
        expect(stream.end()).toMatchObject({ choices: [{ message: { content: 'é👍\n' }, finish_reason: 'stop' }] })
      }),
    )
  })

  it('is broken by an end before the reply’s, wherever that is', () => {
    const text = events(
      chunk({ content: 'a' }),
      chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] }),
    )
    for (let length = 0; length <= text.length; length++) {
      expect(() => read(text.slice(0, length))).toThrow(expect.objectContaining({ code: 'AGENT_008' }))
    }
  })

  it.for([
    ['{"choices":[{"delta":{"con'],
    ['[1]'],
    ['{"choices":3}'],
    ['{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":1}}]}}]}'],
  ])('is broken by %s', ([part]) => {
    const text = events(part ?? '', finish(), '[DONE]')
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'AGENT_008' }))
  })

  it('passes over lines that keep the connection alive, not without end', () => {
    const alive = (count: number) =>
      events(...Array<string>(count).fill('ping'), chunk({ content: 'a' }), 'ping', finish())
    expect(read(alive(3))).toMatchObject({ choices: [{ message: { content: 'a' } }] })
    expect(() => read(alive(2000))).toThrow(expect.objectContaining({ code: 'AGENT_008' }))
  })

  it.for([['{"error":{"message":"engine died","code":500}}'], ['{"choices":3}'], ['{"cho']] as const)(
    'keeps a reply that was finished before %s',
    ([part]) => {
      const stream = openCompletionStream()
      expect(stream.feed(events(chunk({ content: 'a' }), finish(), part))).toBe('enough')
      expect(stream.end()).toMatchObject({ choices: [{ message: { content: 'a' }, finish_reason: 'stop' }] })
    },
  )

  it('goes on to [DONE] or the end of the body after an early finish_reason', () => {
    for (const last of [['[DONE]'], [finish(), '[DONE]'], []]) {
      const stream = openCompletionStream()
      expect(stream.feed(events(chunk({ content: 'a' }), finish()))).toBe('rest')
      const call = { function: { name: 'f', arguments: '{}' } }
      expect(stream.feed(events(chunk({ content: 'b' }), chunk({ tool_calls: [call] })))).toBe('more')
      stream.feed(events(...last))
      expect(stream.end()).toMatchObject({ choices: [{ message: { content: 'ab', tool_calls: [call] } }] })
    }
    const error = '{"error":{"message":"engine died","code":500}}'
    const broken = events(chunk({ content: 'a' }), finish(), chunk({ content: 'b' }), error)
    expect(() => read(broken)).toThrow(expect.objectContaining({ status: 500 }))
  })

  it('puts together content that comes in parts, thoughts where other servers have them', () => {
    const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] })
    const text = events(
      chunk({ content: [thinking('I ')] }),
      chunk({ content: [thinking('think.'), { type: 'text', text: 'Hel' }] }),
      chunk({ content: 'lo' }),
      finish(),
    )
    expect(read(text)).toMatchObject({ choices: [{ message: { content: 'Hello', reasoning_content: 'I think.' } }] })
  })

  it.for([
    ['{"error":{"message":"engine died","code":500}}', { status: 500 }],
    ['{"error":{"message":"slow down","type":"rate_limit_error","code":null}}', { status: 429 }],
    ['{"object":"error","message":"no such model","code":404}', { status: 404 }],
    ['{"error":{"message":"too long","code":"context_length_exceeded"}}', { status: 400 }],
    ['{"error":"it broke"}', { code: 'AGENT_008', message: 'the server broke off: it broke' }],
    ['{"error":{"message":"it broke"}}', { code: 'AGENT_008', message: 'the server broke off: it broke' }],
  ] as const)('throws what the server says went wrong: %s', ([part, expected]) => {
    const stream = openCompletionStream()
    expect(stream.feed(events(chunk({ content: 'a' }), part))).toBe('enough')
    stream.feed(events(finish(), '[DONE]'))
    expect(() => stream.end()).toThrow(expect.objectContaining(expected))
  })

  it('tells when the first thing the model wrote came', () => {
    const stream = openCompletionStream()
    stream.feed(events(chunk({ role: 'assistant', content: '' }), '{"choices":[]}'))
    expect(stream.firstTokenAt()).toBeUndefined()
    stream.feed(events(chunk({ reasoning: 'hm' })))
    const first = stream.firstTokenAt()
    expect(first).toBeLessThanOrEqual(performance.now())
    stream.feed(events(chunk({ content: 'a' })))
    expect(stream.firstTokenAt()).toBe(first)
  })
})

describe('tool calls in a stream', () => {
  const named = (index: number | undefined, name: string, args: unknown, id?: string) => ({
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    function: { name, arguments: args },
  })
  const piece = (index: number | undefined, args: unknown, more: object = {}) => ({
    ...(index === undefined ? {} : { index }),
    ...more,
    function: { arguments: args },
  })
  const a = { id: 'a', name: 'f', arguments: '{"x":1}' }
  const b = { id: 'b', name: 'g', arguments: '{}' }
  const empty = { id: '', name: 'f', arguments: '{}' }

  it.for([
    ['in pieces', [named(0, 'f', '', 'a'), piece(0, '{"x"'), piece(0, ':1}')], [a]],
    [
      'interleaved',
      [named(0, 'f', '', 'a'), named(1, 'g', '', 'b'), piece(0, '{"x"'), piece(1, '{}'), piece(0, ':1}')],
      [a, b],
    ],
    [
      'without an index',
      [named(undefined, 'f', '{"x"', 'a'), piece(undefined, ':1}'), named(undefined, 'g', '{}', 'b')],
      [a, b],
    ],
    [
      'interleaved by id',
      [
        named(undefined, 'f', '{"x"', 'a'),
        named(undefined, 'g', '', 'b'),
        piece(undefined, ':1}', { id: 'a' }),
        piece(undefined, '{}', { id: 'b' }),
      ],
      [a, b],
    ],
    ['all numbered 0', [named(0, 'f', '{"x":1}', 'a'), named(0, 'g', '{}', 'b')], [a, b]],
    ['with name and id repeated', [named(0, 'f', '{"x"', 'a'), named(0, 'f', ':1}', 'a')], [a]],
    ['with another id in each piece', [named(0, 'f', '{"x"', 'a'), piece(0, ':1}', { id: 'z' })], [a]],
    ['with the id in the last piece', [named(0, 'f', '{"x"'), piece(0, ':1}', { id: 'a' })], [a]],
    ['with the name in the last piece', [piece(0, '{"x"', { id: 'a' }), named(0, 'f', ':1}')], [a]],
    [
      'with null for nothing',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: null } },
        { index: 0, id: null, function: { name: null, arguments: '{"x":1}' } },
        { index: 0, function: null },
      ],
      [a],
    ],
    ['with arguments as an object', [named(undefined, 'f', { x: 1 }, 'a'), named(undefined, 'g', {}, 'b')], [a, b]],
    ['without arguments, a chunk each', [named(undefined, 'f', {}), named(undefined, 'f', {})], [empty, empty]],
    [
      'with brackets in strings',
      [named(0, 'f', '{"x":"}', 'a'), named(0, 'f', '\\"}"}')],
      [{ ...a, arguments: '{"x":"}\\"}"}' }],
    ],
  ] as const)('are put together %s', ([_how, deltas, calls]) => {
    expect(callsOf(...deltas)).toEqual(calls)
  })

  it.for([
    ['two of one tool, without arguments', [{ name: 'f' }, { name: 'f' }], ['', '']],
    ['two of one tool, one without', [{ name: 'f' }, { name: 'f', arguments: '{"x":1}' }], ['', '{"x":1}']],
    [
      'two pieces of one',
      [
        { name: 'f', arguments: '{"x"' },
        { name: 'f', arguments: ':1}' },
      ],
      ['{"x":1}'],
    ],
  ] as const)('that one chunk lists without numbers are %s', ([_what, listed, args]) => {
    const text = events(chunk({ tool_calls: listed.map((call) => ({ function: call })) }), finish('tool_calls'))
    const calls = args.map((written) => ({ function: { name: 'f', arguments: written } }))
    expect(read(text)).toMatchObject({ choices: [{ message: { tool_calls: calls } }] })
  })

  // A search among all of them, or a look at all that came before, for every piece takes minutes: longer than a test may.
  it.for([
    ['calls', (at: number) => named(at, 'f', '{}')],
    ['calls without numbers', (at: number) => named(undefined, 'f', '{}', `${at}`)],
    ['pieces with the name repeated', () => named(0, 'f', '}')],
    ['pieces with another id each', (at: number) => piece(undefined, '}', { id: `${at}` })],
  ] as const)('are put together from a hundred thousand %s', ([_what, delta]) => {
    const deltas = [named(0, 'f', '{"x":"'), ...Array.from({ length: 100_000 }, (_, at) => delta(at + 1))]
    const text = events(chunk({ tool_calls: deltas }), finish())
    expect(read(text)).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
  })
})
