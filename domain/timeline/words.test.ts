import { expect, it } from 'vitest'
import { formatSeconds } from './words.ts'

it('writes times in the unit a person would use', () => {
  expect([850, 12_340, 245_000].map(formatSeconds)).toEqual(['850 ms', '12.3 s', '4 min 05 s'])
})
