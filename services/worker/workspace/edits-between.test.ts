import fc from 'fast-check'
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

describe('edits between two texts', () => {
  it('turn the one into the other, byte for byte', () => {
    fc.assert(
      fc.property(text, text, (from, to) => {
        const edits = editsBetween(bytes(from), bytes(to))
        expect(Buffer.from(applyEdits(bytes(from), edits)).toString()).toBe(to)
      }),
      { numRuns: 500 },
    )
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
      { numRuns: 30 },
    )
  })
})
