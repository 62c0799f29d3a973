import { expect, it } from 'vitest'
import { isSelected } from './path-rules.ts'

it.each([
  ['E501', 'E', true],
  ['E501', 'ALL', true],
  ['ERA001', 'E', false],
  ['C901', 'C', true],
  ['PLR0912', 'PL', true],
  ['PT001', 'PL', false],
  ['TC001', 'TCH001', true],
])('%s falls under %s: %s', (code, selector, isUnder) => {
  expect(isSelected(code, [selector])).toBe(isUnder)
})
