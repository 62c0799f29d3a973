import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyEdits } from '#domain/apply-edits.ts'
import { editsBetween } from './edits-between.ts'

const bytes = (text: string) => Buffer.from(text)
const line = fc.constantFrom('a', 'b', '  x = 1', '  x = 2', 'é', '🙂🙃', '', '\r')
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
})
