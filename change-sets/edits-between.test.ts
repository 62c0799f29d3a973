import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { applyEdits } from '#domain/change-set.ts'
import { editsBetween } from './edits-between.ts'

const bytes = (text: string) => Buffer.from(text)
const line = fc.constantFrom('a', 'b', '  x = 1', '  x = 2', 'é', '🙂🙃', '', '\r')
/** A file of `count` different lines, far more than those for which the shortest diff is computed. */
const numbered = (word: string, count: number) => Array.from({ length: count }, (_, n) => `${word} ${n}\n`).join('')
const text = fc
  .array(line, { maxLength: 12 })
  .chain((lines) => fc.boolean().map((last) => lines.join('\n') + (last ? '\n' : '')))

/** Ends of lines of every system, in one file; a byte order mark; NUL; characters of one to four bytes. */
const wildText = fc
  .array(
    fc.constantFrom('a', 'b = 1', '\n', '\n', '\r\n', '\r', '\uFEFF', '\0', 'é', 'ü', 'ĩ', '€', '🙂', '🙃', '\u2028'),
    {
      maxLength: 40,
    },
  )
  .map((parts) => bytes(parts.join('')))
const wildBytes = fc
  .array(
    fc.constantFrom(
      bytes('a'),
      bytes('\n'),
      bytes('\r\n'),
      bytes('🙂').subarray(0, 2),
      bytes('🙂').subarray(2),
      Buffer.of(0xe9),
      Buffer.of(0xff, 0xfe),
      Buffer.of(0xc3),
      Buffer.from('é\n', 'utf16le'),
      Buffer.of(0),
    ),
    { maxLength: 40 },
  )
  .map((parts) => Buffer.concat(parts))

describe('edits between two texts', () => {
  it.each(['UTF-8', 'any bytes'])(
    'turn %s into any UTF-8 text, byte for byte, and cut none of its characters',
    (kind) => {
      const from = kind === 'UTF-8' ? wildText : fc.oneof(wildText, wildBytes)
      fc.assert(
        fc.property(from, wildText, (base, target) => {
          const edits = editsBetween(base, target)
          expect(Buffer.compare(applyEdits(base, edits), target)).toBe(0)
          expect(edits.every((edit) => edit.text.isWellFormed() && !edit.text.includes('\uFFFD'))).toBe(true)
        }),
        { numRuns: draws(1_000) },
      )
    },
  )

  it.each([
    ['the second half of an emoji', '🙂\n', '🙃\n', { start: 0, end: 4, text: '🙃' }],
    ['the first bytes of a letter', 'aéb', 'aüb', { start: 1, end: 3, text: 'ü' }],
    ['the last bytes of a letter', 'aéb', 'aĩb', { start: 1, end: 3, text: 'ĩ' }],
  ])('replace whole characters that differ in %s', (_what, from, to, edit) => {
    expect(editsBetween(bytes(from), bytes(to))).toEqual([edit])
  })

  it('do not carry what is not UTF-8', () => {
    expect(() => editsBetween(bytes('a\n'), Buffer.from('é\n', 'latin1'))).toThrow(TypeError)
  })

  it('are none when nothing changed', () => {
    expect(editsBetween(bytes('a\nb\n'), bytes('a\nb\n'))).toEqual([])
  })

  it('insert a line without touching its neighbours', () => {
    const edits = editsBetween(bytes('def f():\n    return 1\n'), bytes('def f():\n    """One."""\n    return 1\n'))
    expect(edits).toEqual([{ start: 9, end: 9, text: '    """One."""\n' }])
  })

  it('keep to the changed part of a line', () => {
    expect(editsBetween(bytes('if x == None:\n'), bytes('if x is None:\n'))).toEqual([{ start: 5, end: 7, text: 'is' }])
  })

  it('split a replaced block line by line, so that equal fixes are equal edits', () => {
    const both = editsBetween(bytes('a1\nb1\n'), bytes('a2\nb2\n'))
    const first = editsBetween(bytes('a1\nb1\n'), bytes('a2\nb1\n'))
    expect(both[0]).toEqual(first[0])
  })

  it.each([
    ['as many lines', numbered('other', 10_000)],
    ['more lines', numbered('other', 10_001)],
    ['lines that all repeat', '\n'.repeat(50_000)],
  ])('are one for a large rewrite with %s, found in a moment', (_what, rewritten) => {
    const [from, to] = [`head\n${numbered('line', 10_000)}tail\n`, `head\n${rewritten}tail\n`]
    const start = performance.now()
    const edits = editsBetween(bytes(from), bytes(to))
    expect(performance.now() - start).toBeLessThan(2000)
    expect(Buffer.from(applyEdits(bytes(from), edits)).equals(bytes(to))).toBe(true)
    expect(edits).toHaveLength(1)
    expect(edits[0]?.start).toBeGreaterThanOrEqual('head\n'.length)
    expect(edits[0]?.end).toBeLessThanOrEqual(bytes(from).length - 'tail\n'.length)
  })

  it('turn one text into the other where the shortest diff is given up', () => {
    const some = fc.record({ head: text, middle: fc.integer({ min: 490, max: 600 }), tail: text })
    fc.assert(
      fc.property(some, some, (one, other) => {
        const [from, to] = [
          `${one.head}${numbered('é a', one.middle)}${one.tail}`,
          `${other.head}${numbered('ü b', other.middle)}${other.tail}`,
        ]
        const edits = editsBetween(bytes(from), bytes(to))
        expect(Buffer.from(applyEdits(bytes(from), edits)).toString()).toBe(to)
      }),
      { numRuns: draws(30) },
    )
  })
})
