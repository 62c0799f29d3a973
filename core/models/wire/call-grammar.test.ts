import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { argumentsGrammar, callGrammar, isHeldByGrammar } from './call-grammar.ts'
import { grammarMatches } from './grammar-matcher.fixture.ts'

const properties = {
  path: { type: 'string' },
  line: { type: 'integer' },
  mode: { type: 'string', enum: ['a "b"', 'c\nd'] },
  tags: { type: 'array', items: { type: 'string' } },
  at: { type: 'object', properties: { x: { type: 'number' }, y: { type: 'boolean' } }, required: ['y'] },
  any: { anyOf: [{ type: 'string' }, { type: 'null' }] },
}
const tools = [
  { name: 'read_file', description: '', parameters: { type: 'object', properties, required: ['path'] } },
  { name: 'note', description: '', parameters: { type: 'object', properties: { one: {}, two: { const: 2 } } } },
  { name: 'submit', description: '', parameters: { type: 'object' } },
]
const grammar = callGrammar(tools)
const call = (name: string, args: unknown) => JSON.stringify({ name, arguments: args })

describe('callGrammar', () => {
  it.each([
    call('read_file', { path: 'ä/"b"\\\n.py' }),
    call('read_file', { path: '', line: -10, mode: 'a "b"', tags: ['x', 'y'], at: { y: true, x: 1.5e-3 }, any: null }),
    call('read_file', { path: 'a', mode: 'c\nd', at: { y: false } }),
    call('note', {}),
    call('note', { two: 2 }),
    call('note', { one: [1, { deep: [null, 'x'] }], two: 2 }),
    call('submit', { anything: ['goes', 1] }),
    '{ "name": "submit", "arguments": {} }',
  ])('describes %s', (text) => {
    expect(grammarMatches(grammar, text)).toBe(true)
  })

  it.each([
    call('write_file', { path: 'a' }),
    call('read_file', {}),
    call('read_file', { path: 1 }),
    call('read_file', { path: 'a', line: 1.5 }),
    call('read_file', { path: 'a', mode: 'z' }),
    call('read_file', { path: 'a', tags: [1] }),
    call('read_file', { path: 'a', at: { x: 1 } }),
    call('read_file', { path: 'a', other: 1 }),
    call('note', { two: 3 }),
    `${call('submit', {})} and more`,
    call('submit', {}).slice(0, -1),
    'I would rather talk about it.',
    '{"name":"submit","arguments":{}',
    `{${' '.repeat(100)}"name":"submit","arguments":{}}`,
    `{"name":"read_file","arguments":{"path":"a","line":1${'0'.repeat(20)}}}`,
  ])('leaves out %s', (text) => {
    expect(grammarMatches(grammar, text)).toBe(false)
  })

  it('holds texts and lists to their least lengths', () => {
    const least = {
      path: { type: 'string', minLength: 2 },
      tags: { type: 'array', items: { type: 'null' }, minItems: 2 },
    }
    const held = callGrammar([{ name: 'note', description: '', parameters: { type: 'object', properties: least } }])
    const matches = (args: unknown) => grammarMatches(held, call('note', args))
    expect([{ path: 'ab' }, { tags: [null, null] }, { tags: [null, null, null] }].map(matches)).toEqual([
      true,
      true,
      true,
    ])
    expect([{ path: 'a' }, { tags: [] }, { tags: [null] }].map(matches)).toEqual([false, false, false])
  })

  it('holds texts and lists to their longest lengths', () => {
    const bounded = {
      type: 'object',
      properties: {
        path: { type: 'string', maxLength: 3 },
        tags: { type: 'array', items: { type: 'null' }, maxItems: 2 },
      },
    }
    const held = callGrammar([{ name: 'note', description: '', parameters: bounded }])
    const fitting = [{ path: '"\n"' }, { path: '' }, { tags: [] }, { tags: [null, null] }]
    const over = [{ path: '1234' }, { tags: [null, null, null] }]
    expect(fitting.map((args) => grammarMatches(held, call('note', args)))).toEqual([true, true, true, true])
    expect(over.map((args) => grammarMatches(held, call('note', args)))).toEqual([false, false])
  })

  it('holds alternatives to their forms, whole numbers to their sign and digits, and no arguments to none', () => {
    const some = {
      type: 'object',
      properties: {
        port: { type: 'integer', minimum: 1, maximum: 65_535 },
        count: { type: 'integer', minimum: 0 },
        note: { anyOf: [{ type: 'string', maxLength: 2 }, { type: 'null' }] },
      },
    }
    const none = { type: 'object', properties: {}, additionalProperties: false }
    const held = [some, none].map((parameters) => callGrammar([{ name: 'note', description: '', parameters }]))
    const matches = (at: number, args: unknown) => grammarMatches(held[at] ?? '', call('note', args))
    expect([{ port: 80 }, { count: 0 }, { note: null }, { note: 'ab' }].map((args) => matches(0, args))).toEqual(
      Array(4).fill(true),
    )
    expect([{ port: -1 }, { port: 100_000 }, { note: 'abc' }, { note: 1 }].map((args) => matches(0, args))).toEqual(
      Array(4).fill(false),
    )
    expect([matches(1, {}), matches(1, { a: 1 })]).toEqual([true, false])
  })

  it('says whether it holds a call to all that a schema would', () => {
    const isHeld = (schema: object) =>
      isHeldByGrammar([
        { name: 'note', description: '', parameters: { type: 'object', properties: { a: schema }, required: ['a'] } },
      ])
    const list = { type: 'array', items: { anyOf: [{ enum: [1] }, { type: 'number' }] } }
    expect([{ type: 'string' }, { const: 1 }, list].map(isHeld)).toEqual([true, true, true])
    const patterns = ['a', '^a|b$', '^(?=a)$', '^(a)\\1$', '^\\p{L}$', '^[', '^"[\\\\"]$'].map((pattern) => ({
      type: 'string',
      pattern,
    }))
    const bounded = ['minLength', 'maxLength'].map((limit) => ({ type: 'string', pattern: '^a+$', [limit]: 4 }))
    const beyond = [...patterns, ...bounded, {}, { type: 'object' }, { type: 'array' }, { $ref: '#/$defs/a' }]
    expect(beyond.filter(isHeld)).toEqual([])
  })

  it.each([
    '^The (function|class) `[A-Za-z0-9_]{1,80}` (is used to [a-z]|[a-hj-z])[^.`<>"\\\\\\n]{8,160}\\.$',
    '^[a-c\\d_-]+(, \\w{2,}){0,2}\\s?$',
    '^(?:a{3}|)[^\\W_]*.\\u00e9[à-ü]$',
    '^[_a-f][-a][ b-d]\\S[^\\s_0]$',
  ])('holds a text to the pattern %s', (pattern) => {
    const parameters = { type: 'object', properties: { a: { type: 'string', pattern } }, required: ['a'] }
    const held = argumentsGrammar([{ name: 'note', description: '', parameters }])
    const matches = (text: string) => grammarMatches(held, `{"a":${JSON.stringify(text)}}`)
    expect(held).not.toMatch(/\\x(?!00-|1F)/)
    const expression = new RegExp(pattern, 'u')
    const isPlain = (text: string) => JSON.stringify(text) === `"${text}"` && !/[\ud800-\udfff]/.test(text)
    fc.assert(
      fc.property(
        fc.stringMatching(expression).filter(isPlain),
        fc.nat(),
        fc.string().filter(isPlain),
        (text, at, other) => {
          const changed = `${text.slice(0, at % text.length)}${other}${text.slice((at % text.length) + 1)}`
          expect([text, changed].map(matches)).toEqual([true, expression.test(changed)])
        },
      ),
      { numRuns: draws(200) },
    )
  })
})
