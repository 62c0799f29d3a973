import { draws, fc } from '#testing/fast-check.ts'
import { expect, it } from 'vitest'
import { applyEdits, composeEdits, type Edit } from './change-set.ts'
import { rebaseEdits } from './rebase-edits.ts'

/** Sorted, disjoint edits of a text of `length` bytes; of two insertions at one point the first is kept. */
function editsOf(length: number): fc.Arbitrary<Edit[]> {
  const one = fc.record({ start: fc.nat(length), size: fc.nat(3), text: fc.constantFrom('', 'x', 'yz', 'é') })
  return fc.array(one, { maxLength: 5 }).map((all) => {
    let held: readonly Edit[] = []
    for (const { start, size, text } of all) {
      const edit = { start, end: Math.min(length, start + size), text }
      if (edit.start === edit.end && text === '') continue
      const answer = composeEdits(held, [edit])
      if (answer.kind === 'composed') held = answer.edits
    }
    return [...held]
  })
}

const base = '0123456789'
const cases = editsOf(base.length).chain((earlier) => {
  const changed = Buffer.from(applyEdits(Buffer.from(base), earlier))
  // Latin letters only where an edit may cut: an é of two bytes is not to be cut.
  const isWhole = (edit: Edit) =>
    [edit.start, edit.end].every((at) => at >= changed.length || (changed[at] ?? 0) >> 6 !== 2)
  return editsOf(changed.length).map((made) => ({ earlier, made: made.filter(isWhole), changed }))
})

it('edits on top of others become edits of the base that give the same text', () => {
  fc.assert(
    fc.property(cases, ({ earlier, made, changed }) => {
      const { edits, replaced } = rebaseEdits(earlier, made, changed)
      const left = earlier.filter((edit) => !replaced.includes(edit))
      const answer = composeEdits(left, edits)
      expect(answer.kind).toBe('composed')
      if (answer.kind !== 'composed') return
      expect(answer.edits.length).toBe(left.length + edits.length)
      const result = Buffer.from(applyEdits(Buffer.from(base), answer.edits)).toString()
      expect(result).toBe(Buffer.from(applyEdits(changed, made)).toString())
      const isWithin = (edit: Edit) => edits.some(({ start, end }) => edit.start >= start && edit.end <= end)
      expect(earlier.filter(isWithin)).toEqual(replaced)
    }),
    { numRuns: draws(5_000) },
  )
})
