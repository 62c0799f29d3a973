import { expect, it } from 'vitest'
import { touch } from './merge-files.ts'

it.each([
  [{ start: 0, end: 2 }, { start: 1, end: 3 }, true],
  [{ start: 0, end: 2 }, { start: 2, end: 3 }, true],
  [{ start: 0, end: 2 }, { start: 3, end: 4 }, false],
  [{ start: 2, end: 2 }, { start: 0, end: 2 }, true],
])('%j and %j touch, where git merges nothing: %s', (one, other, expected) => {
  expect([touch(one, other), touch(other, one)]).toEqual([expected, expected])
})
