import { expect, test } from 'vitest'
import { linkTo, readRoute, type Route } from './route.ts'

const places: Exclude<Route, { page: 'unknown' }>[] = [
  { page: 'runs' },
  { page: 'submit' },
  { page: 'run', runId: 'r1', tab: 'overview' },
  { page: 'run', runId: 'r1', tab: 'timeline' },
  { page: 'run', runId: 'r1', tab: 'timeline', seq: 12 },
  { page: 'run', runId: 'a/b ü#', tab: 'review' },
  { page: 'operation', runId: 'r1', operationId: 'o/1' },
  { page: 'usage' },
]

test.each(places)('the link of a place leads there: %o', (place) => {
  expect(readRoute(linkTo(place))).toEqual(place)
})

test.each(['#/run', '#/runs/r1/nothing', '#/runs/r1/tree/5', '#/runs/r1/timeline/x', '#/usage/1'])(
  'an address that is no place is said so: %s',
  (address) => {
    expect(readRoute(address)).toEqual({ page: 'unknown', path: address.slice(1) })
  },
)

test('an address that is badly written is read as it stands', () => {
  expect(readRoute('#/runs/%E0%A4%A')).toEqual({ page: 'run', runId: '%E0%A4%A', tab: 'overview' })
})
