import { fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { parseContent } from './parse-content.ts'
import { callsOf, formats, nasty, normal, parsed, tools } from './written-calls.fixture.ts'

const numRuns = 150

describe.each(Object.entries(formats))('calls as %s', (_name, format) => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(callsOf(format), (calls) => {
        expect(parsed(format.write(calls).text)).toEqual({ calls: normal(calls), fault: undefined })
      }),
      { numRuns },
    )
  })

  it('cut anywhere are no calls, but for those that are whole when the next has not begun', () => {
    fc.assert(
      fc.property(callsOf(format), (calls) => {
        const { text, ends } = format.write(calls)
        for (let length = 0; length < text.length; length++) {
          const { calls: read, fault } = parsed(text.slice(0, length))
          const isBetween = read.length > 0 && text.slice(ends[read.length - 1], length).trim() === ''
          const allowed = isBetween ? normal(calls.slice(0, read.length)) : []
          const unsound = read.length > 0 ? fault : undefined
          expect({ read, unsound, at: length }).toEqual({ read: allowed, unsound: undefined, at: length })
        }
      }),
      { numRuns: 40 },
    )
  })
})

describe('parseContent', () => {
  it('throws at nothing, and calls nothing that is not offered by way of prose', () => {
    const signs = [
      '<tool_call>',
      '</tool_call>',
      '<function=read_file>',
      '<parameter=a>',
      '</parameter>',
      '</function>',
      '{',
      '}',
      '"name":"write",',
      '"arguments":',
      '[',
      ']',
      '```json\n',
      '\n```',
      '<start_function_call>',
      'call:write',
      '<escape>',
      '<end_function_call>',
      'a:',
      '\n',
    ]
    const piece = fc.oneof(fc.constantFrom(...signs, ...nasty), fc.string({ unit: 'binary', maxLength: 4 }))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const { calls, fault } = parseContent(pieces.join(''), tools)
        expect(fault === undefined || calls.length === 0).toBe(true)
      }),
      { numRuns: 700 },
    )
  })

  const heads = [
    '',
    '{"name":"',
    '{"name":"a","arguments":{"b":"',
    '{',
    '[',
    '<tool_call>',
    '<tool_call>{',
    '<tool_call><function=a',
    '<function=read_file>',
    '<function=read_file><parameter=a',
    '<function=read_file><parameter=a>',
    '<function=read_file><parameter=a></parameter>',
    '<start_function_call>',
    '<start_function_call>call:a',
    '<start_function_call>call:a{b',
    '<start_function_call>call:a{b:',
    '<start_function_call>call:a{}',
    '[TOOL_CALLS]',
    '[TOOL_CALLS]a{}',
    '<|python_tag|>',
    '<think>',
    '```',
    '```json',
    '~~~',
    '`',
    'x',
  ]
  // A regular expression or a search that starts over at every sign takes minutes for these: longer than a test may.
  const signs = [
    '<tool_call>',
    '<tool_call>{',
    '<tool_call> ',
    '<tool_call><function=a>',
    '<function=',
    '<function=read_file><parameter=a></parameter>',
    '<function=read_file><parameter=a></parameter> <',
    '{"name":"a","arguments":{',
    '[',
    '{"a":',
    '```json\n',
    '```json\n[]\n```\n',
    '<start_function_call>call:a{b:',
    '<start_function_call>call:a{}',
    '<start_function_call>call:a{b:[',
    '[TOOL_CALLS]',
    '[TOOL_CALLS][',
    '[TOOL_CALLS]a{}',
    '<think>',
    '</think>',
    ' ',
    '\\"',
    '<',
    ' <tool_call',
    '\n',
    ';',
    '"',
    '\\\\',
    '"id":"",',
    'call:a{b:',
    ' =',
    '\t`',
    '```\t\n',
    `<function=zz>${' '.repeat(620)}<parameter=a>v`,
    `<function=zz>${' '.repeat(620)}<parameter=a>v</parameter>`,
    `[TOOL_CALLS]${' '.repeat(300)}x`,
    `{${' '.repeat(300)}`,
  ].map((sign) => ({ sign, shown: sign.replace(/ {9,}/, '…') }))
  it.each(signs)('takes $shown again and again', ({ sign }) => {
    const text = sign.repeat(Math.max(5000, 200_000 / sign.length))
    for (const head of heads) {
      for (const tail of ['', 'x', '\n']) expect(() => parseContent(head + text + tail, tools)).not.toThrow()
    }
  })

  // A regular expression keeps its way back for every round of a group, and a call its arguments: both on the stack.
  it.each([
    ['a name', `{"name":"${'a'.repeat(8_000_000)}`],
    ['fields', `{${'"id":"",'.repeat(1_000_000)}`],
    ['calls', `[${'{"name":"write","arguments":{}},'.repeat(250_000)}{"name":"write","arguments":{}}]`],
  ])('takes %s that go on for 8 MB', (_what, content) => {
    expect(() => parseContent(content, tools)).not.toThrow()
  })
})
