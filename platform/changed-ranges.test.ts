import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { changedRuns } from './changed-ranges.ts'

/** `before` with each run replaced by its counterpart. */
function replaced(before: readonly string[], after: readonly string[]): string[] {
  const made: string[] = []
  let at = 0
  for (const run of changedRuns(before, after)) {
    made.push(...before.slice(at, run.before.start), ...after.slice(run.after.start, run.after.end))
    at = run.before.end
  }
  return [...made, ...before.slice(at)]
}

describe('the runs in which two sequences differ', () => {
  it('make the one of the other, short or long, with items that come again or do not', () => {
    const items = (kinds: number, max: number) =>
      fc.array(fc.integer({ min: 0, max: kinds }).map(String), { maxLength: max, size: 'max' })
    for (const [kinds, max] of [
      [3, 30],
      [20, 400],
      [2_000, 400],
    ] as const) {
      fc.assert(
        fc.property(items(kinds, max), items(kinds, max), (before, after) => {
          expect(replaced(before, after)).toEqual(after)
        }),
        { numRuns: draws(150) },
      )
    }
  })

  it('are none of equal ones, and the whole of what one of two does not have', () => {
    expect(changedRuns(['a', 'b'], ['a', 'b'])).toEqual([])
    expect(changedRuns([], ['a'])).toEqual([{ before: { start: 0, end: 0 }, after: { start: 0, end: 1 } }])
    expect(changedRuns(['a', 'b', 'c'], ['a', 'c'])).toEqual([
      { before: { start: 1, end: 2 }, after: { start: 1, end: 1 } },
    ])
  })

  it('stay apart in a long file with a change in every third line', () => {
    const line = (at: number, fault: string) => (at % 3 === 1 ? `    return ${fault}` : `def f${at}(x):`)
    const [before, after] = ['"{}".format(x)', 'f"{x}"'].map((fault) =>
      Array.from({ length: 6_000 }, (_, at) => line(at, fault)),
    )
    expect(changedRuns(before ?? [], after ?? [])).toHaveLength(2_000)
  })
})
