import { describe, expect, it } from 'vitest'
import { combinedSelection } from './rule-selection.ts'

describe('the rule selections of a chain of configurations', () => {
  it('start anew with every select', () => {
    expect(combinedSelection([{ select: ['E'], ignore: ['E501'] }, { select: ['F'] }])).toEqual({ select: ['F'] })
  })

  it('let a later, wider selector overrule an earlier, narrower one', () => {
    const base = { select: ['E', 'F401', 'PLR0912'], ignore: ['E501', 'W605'] }
    expect(combinedSelection([base, { 'extend-select': ['E5'], ignore: ['F', 'PL'] }])).toEqual({
      select: ['E'],
      'extend-select': ['E5'],
      ignore: ['W605', 'F', 'PL'],
    })
  })

  it('keep what an empty select ignores for the next one', () => {
    const chain = [{ select: [], ignore: ['E501'] }, { select: ['E'] }]
    expect(combinedSelection(chain)).toEqual({ select: ['E'], ignore: ['E501'] })
  })

  it('join ignore and extend-ignore, and treat fixes alike', () => {
    const chain = [
      { fixable: ['ALL'], unfixable: ['F401'] },
      { 'extend-ignore': ['E1'], ignore: ['E2'], 'extend-fixable': ['F'] },
    ]
    expect(combinedSelection(chain)).toEqual({ ignore: ['E2', 'E1'], fixable: ['ALL'], 'extend-fixable': ['F'] })
  })
})
