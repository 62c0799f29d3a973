import { expect, test } from 'vitest'
import type { OperationRow } from './outcome-tree.ts'
import { historyOf } from './run-history.ts'

function ended(endedAt: number | undefined, tokens: number): OperationRow {
  const status = endedAt === undefined ? 'running' : 'succeeded'
  return {
    id: `${endedAt}`,
    agent: 'lint',
    path: 'a.py',
    name: 'f',
    status,
    code: undefined,
    durationMs: 1,
    tokens,
    endedAt,
  }
}

test('adds up what had ended at each time, whatever the order of the operations', () => {
  const rows = [ended(4_000, 30), ended(undefined, 0), ended(2_000, 10), ended(3_000, 20)]
  expect(historyOf(rows, 0, 4)).toEqual({
    times: [0, 1, 2, 3, 4],
    ended: [0, 0, 1, 2, 3],
    tokens: [0, 0, 10, 30, 60],
  })
})

test('a run of which nothing has ended stays at nothing', () => {
  expect(historyOf([], 1_000, 2)).toEqual({ times: [1, 1, 1], ended: [0, 0, 0], tokens: [0, 0, 0] })
})
