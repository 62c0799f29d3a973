import { describe, expect, it } from 'vitest'
import { ruffVersion } from '../lint-text.ts'
import { readConfigTree } from './config-tree.ts'
import { historyOfRuff } from './rule-history.ts'
import { newestRuffMinor, rulesNewerThan } from './ruff-version.ts'

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

it('the history of rules is that of the Ruff we run: scripts/write-rule-history.ts writes it', () => {
  expect(historyOfRuff).toBe(ruffVersion())
})

describe('rules newer than the Ruff of a repository', () => {
  it('are those that a prefix selects and nothing switches off', () => {
    expect(rulesNewerThan(15, { select: ['PL', 'RUF'], ignore: ['RUF06'] }, false)).toEqual([
      'PLE0304',
      'PLR0917',
      'PLR1708',
      'RUF036',
      'RUF071',
    ])
    expect(rulesNewerThan(4, { select: ['E', 'F'] }, false)).toEqual([])
    expect(rulesNewerThan(17, { select: ['ALL'] }, false)).toEqual([])
  })

  it('are not those that got another code, or are a part of one that was on', () => {
    expect(rulesNewerThan(7, { select: ['TCH', 'TRY'] }, false)).toEqual(['TC006', 'TC007'])
    expect(rulesNewerThan(11, { select: ['UP04'], 'extend-select': ['UP007'] }, false)).toEqual([
      'UP046',
      'UP047',
      'UP049',
      'UP042',
    ])
    expect(rulesNewerThan(11, { select: ['UP'], ignore: ['UP007'] }, false)).toContain('UP045')
  })

  it('may be some of Ruff’s own default', () => {
    expect(rulesNewerThan(16, { 'extend-select': ['TID255'] }, false)).toEqual(['RUF071', 'TID254'])
  })

  it('are in preview those that it did not know', () => {
    expect(rulesNewerThan(14, { select: ['RUF06', 'RUF07'], 'extend-select': ['RUF070'] }, true)).toEqual([
      'RUF069',
      'RUF071',
      'RUF072',
      'RUF073',
      'RUF074',
      'RUF075',
      'RUF077',
    ])
    // It has no code yet, so only `ALL` selects it.
    expect(rulesNewerThan(15, { select: ['ALL'] }, true)).toContain('pytest-fixture-autouse')
    expect(rulesNewerThan(15, { select: ['PT'] }, true)).toEqual([])
  })
})
