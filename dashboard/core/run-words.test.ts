import { expect, test } from 'vitest'
import { runTitle, totalsOf, wordsMatcher } from './run-words.ts'
import { roughly } from './page-time.ts'
import { requestOf, type RunForm } from './new-run-form.ts'

const form: RunForm = {
  agents: ['lint'],
  objective: '',
  isApproved: true,
  paths: '',
  operations: '',
  budget: '',
}

test('a text has words in any order and in capitals or not, but not others', () => {
  expect(wordsMatcher('stock DOC')('Document the Stock\nlint')).toBe(true)
  expect(wordsMatcher('stock test')('Document the Stock')).toBe(false)
  expect(wordsMatcher('')('anything')).toBe(true)
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

test('a form becomes a request without what was left empty', () => {
  expect(requestOf({ ...form, agents: [] })).toBeUndefined()
  expect(requestOf({ ...form, budget: 'x' })).toBeUndefined()
  expect(requestOf({ ...form, paths: 'src/**  docs', operations: '5,000', budget: '' })).toEqual({
    agents: ['lint'],
    paths: ['src/**', 'docs'],
    limits: { operations: 5_000 },
  })
})

test('only an objective has a plan to approve', () => {
  expect(requestOf(form)).toEqual({ agents: ['lint'] })
  expect(requestOf({ ...form, objective: ' x ' })).toMatchObject({ objective: 'x', approval: 'plan' })
})
