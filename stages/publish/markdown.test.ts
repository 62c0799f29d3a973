import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { shownMarkdown } from './shown-markdown.fixture.ts'
import { cell, clipped, code, collapsed, table } from './markdown.ts'

const harmless = new Set(['text', 'inline', 'code_inline', 'softbreak', 'paragraph_open', 'paragraph_close'])
const ofTable = /^(?:table|thead|tbody|tr|th|td)_(?:open|close)$/

/** What a text makes besides words: links, pictures, HTML, emphasis, lists … */
function effectsOf(source: string): string[] {
  return shownMarkdown(source).flatMap(({ type }) => (harmless.has(type) || ofTable.test(type) ? [] : [type]))
}

/** What GitHub would make of the words: it looks for these in the rendered text, but not in code. */
function referencesIn(source: string): string[] {
  const words = shownMarkdown(source).filter(({ type }) => type === 'text')
  const text = words.map(({ content }) => content).join('')
  return text.match(/@[\w-]|#\d|\bGH-\d|https?:\/\/|www\.\w/gi) ?? []
}

const parts = [
  ...Array.from('`|\\*_[]()<>!#@&~$:/-+=.\n\r\t "\'{}'),
  '@ada',
  'fixes #1',
  'GH-12',
  'acme/shop#3',
  'https://example.com',
  'www.example.com',
  'a@example.com',
  '<img src=x onerror=alert(1)>',
  '<script>',
  '<!--',
  '-->',
  '[a](javascript:x)',
  '![a](https://x/y.png)',
  '&lt;',
  '```',
  '\\|',
  '| --- |',
  '\u2028',
  '\u202E',
  '\u0000',
  '\uD800',
  'name',
]
const hostile = fc.array(fc.oneof(fc.constantFrom(...parts), fc.string()), { maxLength: 12 }).map((all) => all.join(''))

describe('text of others in Markdown', () => {
  it.each([
    ['cell', cell],
    ['code', code],
  ])('%s makes nothing but words of it, and mentions nobody', (_, written) => {
    fc.assert(
      fc.property(hostile, (text) => {
        const source = `Before ${written(text)} after`
        expect(effectsOf(source)).toEqual([])
        expect(referencesIn(source)).toEqual([])
        expect(source.split('\n')).toHaveLength(1)
      }),
      { numRuns: draws(2_000) },
    )
  })

  it.each(['a|b', 'a`|`b', '|', String.raw`x|y\z|`])(
    'has the bar of %s as it is, in code and in code of a table',
    (text) => {
      const shown = (source: string) =>
        shownMarkdown(source).flatMap(({ type, content }) => (type === 'code_inline' ? content : []))
      expect(shown(`See ${code(text)}.`)).toEqual([text])
      expect(shown(table(['a'], [[code(text)]]))).toEqual([text])
    },
  )

  it('is cut at the end of a line, and hides nothing of what comes after it', () => {
    const text = `One.\n\n${collapsed('2 checks passed', 'a\nb\nc')}\n`
    expect(clipped(text, text.length)).toBe(text)
    expect(clipped(text, 50)).toMatch(/^One\.\n\n<details>[^]*\n\n… \(cut\)\n\n<\/details>$/)
    expect(clipped('x'.repeat(100), 50)).toBe('\n\n… (cut)')
  })

  it('does not leave its place in a table', () => {
    fc.assert(
      fc.property(hostile, hostile, (one, other) => {
        const source = table(['a', 'b'], [[cell(one), code(other)]])
        const tokens = shownMarkdown(source)
        expect(tokens.filter(({ type }) => type === 'td_open')).toHaveLength(2)
        expect(tokens.filter(({ type }) => type === 'tr_open')).toHaveLength(2)
        expect(effectsOf(source)).toEqual([])
        // As GitHub's parser counts: any escaped character, then bars.
        const row = (source.split('\n')[2] ?? '').replaceAll(/\\[!-/:-@[-`{-~]/g, '')
        expect(row.split('|')).toHaveLength(4)
      }),
      { numRuns: draws(2_000) },
    )
  })
})
