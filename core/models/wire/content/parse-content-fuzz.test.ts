import fc from 'fast-check'
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

  // A regular expression or a search that starts over at every sign takes minutes for these: longer than a test may.
  it.each([
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
  ])('takes %j twenty thousand times', (sign) => {
    for (const head of ['', '{"name":"', '<tool_call>', '<function=read_file><parameter=a>', '<think>', 'x']) {
      expect(() => parseContent(head + sign.repeat(20_000), tools)).not.toThrow()
    }
  })
})
