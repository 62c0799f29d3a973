import { fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { composeEdits } from './change-set.ts'

describe('composing edits of several change sets', () => {
  const insertion = { start: 9, end: 9, text: '    """One."""\n' }

  it('keeps disjoint edits in order', () => {
    const fix = { start: 20, end: 22, text: 'is' }
    expect(composeEdits([fix], [insertion])).toEqual({ kind: 'composed', edits: [insertion, fix] })
  })

  it('counts an edit that two sets make once', () => {
    expect(composeEdits([insertion], [insertion])).toEqual({ kind: 'composed', edits: [insertion] })
  })

  it('refuses overlapping edits', () => {
    const answer = composeEdits([{ start: 2, end: 6, text: 'x' }], [{ start: 4, end: 5, text: 'y' }])
    expect(answer.kind).toBe('conflict')
  })

  it('refuses two different insertions at one point', () => {
    expect(composeEdits([insertion], [{ ...insertion, text: 'other' }]).kind).toBe('conflict')
  })

  it('lets an insertion stand right before and right after a replacement', () => {
    const replaced = { start: 4, end: 6, text: 'z' }
    expect(
      composeEdits(
        [replaced],
        [
          { start: 4, end: 4, text: 'a' },
          { start: 6, end: 6, text: 'b' },
        ],
      ).kind,
    ).toBe('composed')
  })

  it('does not depend on the order of the sets', () => {
    const edit = fc
      .tuple(fc.nat(20), fc.nat(3), fc.constantFrom('', 'x', 'y'))
      .map(([start, length, t]) => ({ start, end: start + length, text: t }))
    fc.assert(
      fc.property(edit, edit, (one, other) => {
        expect(composeEdits([one], [other]).kind).toBe(composeEdits([other], [one]).kind)
      }),
    )
  })
})
