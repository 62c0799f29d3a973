import { expect, it } from 'vitest'
import { percentilesOf } from './percentiles.ts'

it.each([
  [[], undefined],
  [[7], { p50: 7, p95: 7, p99: 7 }],
  [[4, 1, 3, 2], { p50: 2, p95: 4, p99: 4 }],
  [Array.from({ length: 200 }, (_, at) => 200 - at), { p50: 100, p95: 190, p99: 198 }],
])('takes percentiles by the nearest rank, %#', (values, percentiles) => {
  expect(percentilesOf(values)).toEqual(percentiles)
})
