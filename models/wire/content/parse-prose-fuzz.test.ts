import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { callsOf, formats, normal, parsed, type Format } from './written-calls.fixture.ts'

const numRuns = draws(40)

/** Longer than every run of the mark in the text. */
const marks = (mark: string, least: number, text: string) => {
  const longest = Math.max(0, ...[...text.matchAll(/`+|~+/g)].map(([run]) => run.length))
  return mark.repeat(Math.max(least, longest + 1))
}
const fenced = (mark: string, info: string) => (text: string) => {
  const fence = marks(mark, 3, text)
  return `\n${fence}${info}\n${text}\n${fence}\n`
}
const inline = (text: string) => `it says ${marks('`', 1, text)} ${text} ${marks('`', 1, text)}`

/** A call of `quoted` as a file may hold it; without what ends the paragraph or the thought that it is shown in. */
const quotedCall = fc
  .oneof(
    ...Object.values(formats).map((format) => callsOf(format, ['quoted']).map((calls) => format.write(calls).text)),
  )
  .filter((text) => !/\n\s*\n|\n[ \t]*[`~]|<\/?think>/.test(text))

const shown = fc
  .tuple(
    quotedCall,
    fc.constantFrom(fenced('`', 'xml'), fenced('`', 'python'), fenced('~', 'html'), fenced('`', 'text a b'), inline),
  )
  .map(([text, show]) => show(text))
const blocks = fc.constantFrom(
  '\n```python\nx = {"a": "b"}\n```\n',
  '\n```\nplain\n```\n',
  '\n```json\n{"name": "app", "version": 3}\n```\n',
  '\n  ~~~\n```\n  ~~~\n',
  ' (see `a.ts`, ``b`c`` and {"k": "<tool_call>"}) ',
)
const words = fc.constantFrom(
  'I will change this:',
  'The file says',
  'So\n\n',
  'it holds <tool_call> tags',
  '[1] and {x}.',
)
const prose = fc.array(fc.oneof(shown, blocks, words), { maxLength: 4 }).map((pieces) => pieces.join(' '))
const thought = fc
  .tuple(quotedCall, fc.constantFrom('<think>', ''))
  .map(([text, begin]) => `${begin}Maybe ${text}? No, \`that is.\n</think>\n`)

/** A value without escapes may contain the text that ends a thought: the two can only be distinguished when no thought is garbled. */
const mayBeThought = (text: string) => !/^<\/think>/m.test(text)

const said = (format: Format) =>
  fc
    .record({ thought: fc.option(thought, { nil: '' }), prose, calls: callsOf(format) })
    .map(({ thought: before, prose: around, calls }) => {
      const { text, ends } = format.write(calls)
      const head = `${mayBeThought(text) ? before : ''}${around}\n\n`
      return { calls, head, text: `${head}${text}`, ends: ends.map((end) => head.length + end) }
    })

describe.each(Object.entries(formats))('calls as %s behind prose with code', (_name, format) => {
  it('are read, and what is shown in code or thought of is not', () => {
    fc.assert(
      fc.property(said(format), fc.constantFrom('', '<|eom_id|>', '\n</s>\n'), ({ text, calls }, end) => {
        expect(parsed(text + end)).toEqual({ calls: normal(calls), fault: undefined })
      }),
      { numRuns },
    )
  })

  it('are none with words behind them', () => {
    fc.assert(
      fc.property(said(format), ({ text }) => {
        expect(parsed(`${text}\nThat is what the file says.`).calls).toEqual([])
      }),
      { numRuns },
    )
  })

  it('cut anywhere are no others', () => {
    fc.assert(
      fc.property(
        said(format).filter(({ text }) => !/^[^<]*<\/think>|^Maybe/.test(text)),
        ({ text, head, ends, calls }) => {
          for (let length = 0; length < text.length; length++) {
            const { calls: read } = parsed(text.slice(0, length))
            if (read.length === 0) continue
            const isBetween = length > head.length && text.slice(ends[read.length - 1], length).trim() === ''
            expect({ read, at: length }).toEqual({
              read: isBetween ? normal(calls.slice(0, read.length)) : [],
              at: length,
            })
          }
        },
      ),
      { numRuns: draws(10) },
    )
  })
})
