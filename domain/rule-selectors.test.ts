import { expect, it } from 'vitest'
import { isSelected } from './path-rules.ts'

it.each([
  ['E501', 'E', true],
  ['E501', 'E5', true],
  ['E501', 'E501', true],
  ['E501', 'ALL', true],
  ['ERA001', 'E', false],
  ['C901', 'C', true],
  ['C416', 'C4', true],
  ['PLR0912', 'PL', true],
  ['PLR0912', 'PLR09', true],
  ['PT001', 'PL', false],
  ['TC001', 'TCH', true],
  ['TC001', 'TCH001', true],
  ['E5', 'E', true],
])('%s falls under %s: %s', (code, selector, isUnder) => {
  expect(isSelected(code, [selector])).toBe(isUnder)
})
