import { describe, expect, it } from 'vitest'
import { type Flake8Choice, flake8Rules, isInPreview } from './flake8-config.ts'

const none: Flake8Choice = { select: undefined, extendSelect: [], ignore: undefined, extendIgnore: [] }
const rulesOf = (choice: Partial<Flake8Choice>) => flake8Rules({ ...none, ...choice }, ['E', 'F', 'W', 'C90'], [])

describe('what flake8 has on', () => {
  it('is E, F, W and C90 but for its default ignores, where nothing is chosen', () => {
    const { select, missing } = rulesOf({})
    expect(select).toEqual(expect.arrayContaining(['E501', 'F401', 'W605', 'C901']))
    expect(select).not.toContain('E226')
    expect(missing).toEqual(expect.arrayContaining(['E127', 'F824']))
    expect(missing).not.toContain('W503')
  })

  it('keeps the default ignores with extend-ignore, and drops them with ignore', () => {
    expect(rulesOf({ extendIgnore: ['E501'] }).select).not.toContain('E226')
    expect(rulesOf({ ignore: ['E501'] }).select).toContain('E226')
    expect(rulesOf({ ignore: ['E501'] }).missing).toContain('W503')
  })

  it('lets what is selected by name count more than what is ignored by default', () => {
    expect(rulesOf({ select: ['E', 'F'] }).select).toContain('E226')
    expect(rulesOf({ extendSelect: ['E24'] }).select).toContain('E241')
  })

  it('lets the longer of two that are named win, and ignore if they are equal', () => {
    expect(rulesOf({ select: ['E50'], ignore: ['E'] }).select).toEqual(['E501', 'E502'])
    expect(rulesOf({ select: ['E'], ignore: ['E'] }).select).toEqual([])
  })

  it('has plugins on only if they are selected, and if Ruff means the same by their codes', () => {
    const { select, ignore, missing } = rulesOf({
      select: ['C', 'E', 'B', 'C4', 'I', 'T4', 'WPS'],
      ignore: ['B008', 'E203'],
    })
    expect(select).toEqual(expect.arrayContaining(['C901', 'B', 'C4']))
    expect(ignore).toEqual(['B008', 'B9'])
    expect(missing).toEqual(expect.arrayContaining(['I', 'T4', 'WPS']))
    expect(rulesOf({ ignore: ['B008'] }).select).not.toContain('B')
  })

  it('has the opinions of bugbear on only if they are named', () => {
    expect(rulesOf({ extendSelect: ['B', 'B904'] }).ignore).toEqual([])
  })

  it('knows which of them Ruff has in preview only', () => {
    expect(['E101', 'E111', 'E225', 'E302', 'E402', 'E502', 'W391', 'W291'].filter(isInPreview)).toEqual([
      'E111',
      'E225',
      'E302',
      'E502',
      'W391',
    ])
  })
})
