import { describe, expect, it } from 'vitest'
import { toldModels } from './told-models.ts'

describe('the models of a server', () => {
  it('are told by their names', () => {
    expect(toldModels(['big', 'small'])).toBe('big, small')
  })

  it('are told in few words where there are many, or their names are long', () => {
    const many = Array.from({ length: 5000 }, (_, at) => `${at}${'m'.repeat(1000)}`)
    const told = toldModels(many)
    expect(told).toMatch(/^0m+…, 1m+…, .* and 4990 more$/)
    expect(told.length).toBeLessThan(1200)
  })
})
