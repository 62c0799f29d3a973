import { anyCharacter, draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { parseContent } from './parse-content.ts'
import { callsOf, formats, nasty, normal, parsed, tools } from './written-calls.fixture.ts'

const numRuns = draws(150)

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
          if (read.length === 0) continue
          const isBetween = text.slice(ends[read.length - 1], length).trim() === ''
          const allowed = isBetween ? normal(calls.slice(0, read.length)) : []
          expect({ read, fault, at: length }).toEqual({ read: allowed, fault: undefined, at: length })
        }
      }),
      { numRuns: draws(40) },
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
    const piece = fc.oneof(fc.constantFrom(...signs, ...nasty), fc.string({ unit: anyCharacter, maxLength: 4 }))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const { calls, fault } = parseContent(pieces.join(''), tools)
        expect(fault === undefined || calls.length === 0).toBe(true)
      }),
      { numRuns: draws(700) },
    )
  })
})
