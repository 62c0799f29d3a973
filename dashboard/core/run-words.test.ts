import { expect, test } from 'vitest'
import { hasWords, runTitle, totalsOf } from './run-words.ts'
import { roughly } from './page-time.ts'
import { requestOf, type Wish } from './wish.ts'

const wish: Wish = {
  agents: ['lint'],
  objective: '',
  isApproved: true,
  paths: '',
  operations: '',
  budget: '',
}

test('a text has words in any order and in capitals or not, but not others', () => {
  expect(hasWords('Document the Stock\nlint', 'stock DOC')).toBe(true)
  expect(hasWords('Document the Stock', 'stock test')).toBe(false)
  expect(hasWords('anything', '')).toBe(true)
})

test('operations that wait or are still to begin have not ended', () => {
  expect(totalsOf({ succeeded: 3, failed: 1, dispatched: 2, waiting: 1, pending: 5 })).toEqual({ total: 12, ended: 4 })
})

test('a long objective is cut to its first line', () => {
  const request = { agents: [], objective: `${'x'.repeat(100)}\nmore` }
  expect(
    runTitle({
      request: {
        ...request,
        dry_run: false,
        error_policy: 'continue',
        limits: {},
        priority: 5,
        accept: 'none',
        labels: {},
      },
    }),
  ).toBe(`${'x'.repeat(90)}…`)
})

test('durations have one or two units', () => {
  expect([900, 61_000, 3_700_000, 200_000_000].map(roughly)).toEqual(['1 s', '1 min 1 s', '1 h 1 min', '2 d 7 h'])
})

test('a wish becomes a request without what was left empty', () => {
  expect(requestOf({ ...wish, agents: [] })).toBeUndefined()
  expect(requestOf({ ...wish, paths: 'src/**  docs', operations: '5', budget: 'x' })).toEqual({
    agents: ['lint'],
    paths: ['src/**', 'docs'],
    limits: { operations: 5 },
  })
})

test('only an objective has a plan to approve', () => {
  expect(requestOf(wish)).toEqual({ agents: ['lint'] })
  expect(requestOf({ ...wish, objective: ' x ' })).toMatchObject({ objective: 'x', approval: 'plan' })
})
