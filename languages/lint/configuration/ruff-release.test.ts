import { expect, it } from 'vitest'
import { readConfigTree } from './config-tree.ts'
import { newestRuffMinor } from './ruff-config.ts'

it.each([
  ['==0.14.10', 14],
  ['==0.14.*', 14],
  ['v0.0.290', 0],
  ['~=0.5.1', 5],
  ['~=0.5', undefined],
  ['^0.5', 5],
  ['<0.6', 5],
  ['<0.6.0', 5],
  ['<0.6.2', 6],
  ['<=0.6', 6],
  ['>=0.4,<0.9', 8],
  ['>=0.4', undefined],
  ['!=0.4.2', undefined],
  ['<1', undefined],
])('of the versions that %j allows the newest is 0.%s', (requirement, minor) => {
  expect(
    newestRuffMinor(
      readConfigTree([], () => {}),
      '',
      requirement,
    ),
  ).toBe(minor)
})
