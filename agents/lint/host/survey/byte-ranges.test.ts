import { fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { type ByteRange, contains, innermostOf, insideFinder, outermost, overlapFinder } from './lint-work.ts'

const range = (startByte: number, endByte: number): ByteRange => ({ startByte, endByte })
const size = ({ startByte, endByte }: ByteRange) => endByte - startByte
const aRange = fc
  .tuple(fc.nat(30), fc.integer({ min: 1, max: 12 }))
  .map(([start, bytes]) => range(start, start + bytes))
const insertion = fc.nat(40).map((byte) => range(byte, byte))
const someRanges = fc.array(aRange, { maxLength: 12 })

describe('ranges of a file', () => {
  it('are outermost where no other one contains them, one of those that are equal', () => {
    expect(outermost([range(0, 9), range(0, 9), range(2, 4), range(9, 12), range(20, 21)])).toEqual([
      range(0, 9),
      range(9, 12),
      range(20, 21),
    ])
    fc.assert(
      fc.property(someRanges, (ranges) => {
        const isAlone = (one: ByteRange) => !ranges.some((other) => contains(other, one) && size(other) > size(one))
        expect(new Set(outermost(ranges).map(({ startByte, endByte }) => `${startByte}-${endByte}`))).toEqual(
          new Set(ranges.filter(isAlone).map(({ startByte, endByte }) => `${startByte}-${endByte}`)),
        )
      }),
    )
  })

  it('belong to the smallest range around them', () => {
    fc.assert(
      fc.property(someRanges, someRanges, (inner, outer) => {
        const found = innermostOf(inner, outer)
        for (const one of inner) {
          const around = outer.filter((other) => contains(other, one)).map(size)
          const owner = found.get(one)
          expect(owner === undefined ? [] : [size(owner)]).toEqual(around.toSorted((a, b) => a - b).slice(0, 1))
        }
      }),
    )
  })

  it('belong to the later one of two that are equal, and to what begins where another one ends', () => {
    const [file, body] = [range(0, 9), range(0, 9)]
    const fault = range(3, 4)
    expect(innermostOf([fault], [file, body]).get(fault)).toBe(body)
    const [first, second, between, end] = [range(0, 5), range(5, 9), range(5, 5), range(9, 9)]
    const found = innermostOf([end, between], [first, second])
    expect([found.get(between), found.get(end)]).toEqual([second, second])
  })

  it('overlap where they share a byte, and insertions where they are inside', () => {
    fc.assert(
      fc.property(someRanges, fc.oneof(aRange, insertion), (ranges, one) => {
        const shares = ranges.some((other) => one.startByte < other.endByte && other.startByte < one.endByte)
        expect(overlapFinder(ranges)(one)).toBe(shares)
      }),
    )
  })

  it('are found inside of another one', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(aRange, insertion), { maxLength: 12 }), aRange, (ranges, outer) => {
        expect(insideFinder(ranges)(outer)).toBe(ranges.some((one) => contains(outer, one)))
      }),
    )
  })
})
