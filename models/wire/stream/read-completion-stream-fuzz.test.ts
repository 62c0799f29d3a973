import { APIError } from 'openai'
import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { fromOpenAi } from '../from-openai.ts'
import { openCompletionStream } from '../completion-client.ts'

const request: ModelRequest = {
  model: 'small',
  messages: [],
  tools: [{ name: 'f', description: '', parameters: {} }],
  toolChoice: 'auto',
  temperature: 0,
  maxTokens: 10,
}

/** Stands for what is nested too deeply for JSON.stringify. */
const deep = `${'['.repeat(8000)}${']'.repeat(8000)}`
const odd = fc.oneof(
  fc.constantFrom(null, '', 'f', 0, 1, -1, 1e300, 429, '503', true, {}, [], [null], { toString: 1 }, { toJSON: null }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constant('DEEP'),
)
/** What the key holds in an answer that is right, or anything, or nothing. */
const or = (right: fc.Arbitrary<unknown>) =>
  fc.option(fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: odd }), { nil: undefined })
const text = fc.constantFrom('', 'a', '{"x":', '"}"', '{}', '}')
const call = fc.record({
  index: or(fc.nat(3)),
  id: or(text),
  function: or(fc.record({ name: or(text), arguments: or(text) })),
})
const message = fc.record({ role: or(text), content: or(text), tool_calls: or(fc.array(or(call), { maxLength: 4 })) })
const choice = fc.record({ index: or(fc.nat(2)), delta: or(message), message: or(message), finish_reason: or(text) })
const error = fc.record({ message: or(text), code: or(fc.constantFrom(400, '503')), type: or(text), status: odd })
const part = fc.record({
  choices: or(fc.array(or(choice), { maxLength: 3 })),
  error: fc.option(or(error), { nil: undefined, freq: 4 }),
  object: or(fc.constantFrom('error', 'chat.completion.chunk')),
  usage: or(fc.record({ prompt_tokens: odd })),
  ['__proto__']: or(text),
})

function faultOf(parts: readonly string[]): unknown {
  const stream = openCompletionStream()
  for (const written of parts) stream.feed(`data: ${written}\n\n`)
  try {
    const { raw } = fromOpenAi(stream.end(), request)
    JSON.stringify({ replies: [raw] })
    return undefined
  } catch (thrown) {
    return thrown
  }
}

describe('openCompletionStream', () => {
  it('takes whatever a server sends, and answers a reply that can be kept or says what is wrong', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(part, odd), { maxLength: 4 }), (parts) => {
        const wrong = faultOf(parts.map((each) => JSON.stringify(each).replaceAll('"DEEP"', deep)))
        expect(wrong === undefined || wrong instanceof AppError || wrong instanceof APIError, String(wrong)).toBe(true)
      }),
      { numRuns: draws(2000) },
    )
  })
})
