import { expect, it } from 'vitest'
import { extendHeadings } from './definition-range.ts'

it('a heading ends none of another kind, and what is no heading stays as it is', () => {
  const heading = (kind: string, start: number) => {
    return { kind, start, end: start + 1, heading: { level: 1, scope: { id: 1, end: 100 } } }
  }
  const plain = { kind: 'class', start: 20, end: 25, heading: undefined }
  const extended = extendHeadings([heading('section', 0), heading('namespace', 10), plain])
  expect(extended.map(({ start, end }) => [start, end])).toEqual([
    [0, 100],
    [10, 100],
    [20, 25],
  ])
})
