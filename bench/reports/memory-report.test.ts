import { expect, test } from 'vitest'
import { fitLine } from './memory-report.ts'

test('a straight line has its slope and no error', () => {
  const { slope, error } = fitLine([1, 2, 3, 4].map((x) => ({ x, y: 7 + 3 * x })))
  expect(slope).toBeCloseTo(3)
  expect(error).toBeCloseTo(0)
})

test('noise without a trend has an error larger than its slope', () => {
  const { slope, error } = fitLine([5, -5, 5, -5, 5, -5, 5].map((y, x) => ({ x, y })))
  expect(Math.abs(slope)).toBeLessThan(error)
})
