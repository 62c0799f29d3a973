import { describe, expect, it } from 'vitest'
import { extendHeadings } from './definition-range.ts'

const heading = (level: number, start: number, scope = { id: 1, end: 100 }, kind = 'section') => ({
  kind,
  start,
  end: start + 1,
  heading: { level, scope },
})

const rangesOf = (...definitions: Parameters<typeof extendHeadings>[0]) =>
  extendHeadings(definitions).map(({ start, end }) => [start, end])

describe('extending headings', () => {
  it('ends one where the next of its level or above begins, the last with its scope', () => {
    expect(rangesOf(heading(1, 0), heading(2, 10), heading(3, 20), heading(2, 30), heading(1, 40))).toEqual([
      [0, 40],
      [10, 30],
      [20, 30],
      [30, 40],
      [40, 100],
    ])
  })

  it('lets a heading in a scope of its own end nothing around it', () => {
    expect(rangesOf(heading(2, 0), heading(1, 10, { id: 2, end: 20 }), heading(2, 30))).toEqual([
      [0, 30],
      [10, 20],
      [30, 100],
    ])
  })

  it('keeps kinds apart, and what is no heading as it is', () => {
    const plain = { kind: 'class', start: 20, end: 25, heading: undefined }
    expect(rangesOf(heading(1, 0), heading(1, 10, undefined, 'namespace'), plain)).toEqual([
      [0, 100],
      [10, 100],
      [20, 25],
    ])
  })
})
