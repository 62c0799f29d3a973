import { describe, expect, it } from 'vitest'
import { markedFault, openFaultDraw } from './faults.ts'

const draw = (plan: Parameters<typeof openFaultDraw>[0], count: number) => {
  const next = openFaultDraw(plan)
  return Array.from({ length: count }, next)
}

describe('openFaultDraw', () => {
  const plan = { shares: { '429': 0.1, hang: 0.2 }, seed: 7 }

  it('gives the same faults for the same seed and others for another', () => {
    expect(draw(plan, 200)).toEqual(draw(plan, 200))
    expect(draw(plan, 200)).not.toEqual(draw({ ...plan, seed: 8 }, 200))
  })

  it('gives each fault about its share', () => {
    const faults = draw(plan, 10_000)
    expect(faults.filter((fault) => fault === '429').length).toBeGreaterThan(900)
    expect(faults.filter((fault) => fault === '429').length).toBeLessThan(1100)
    expect(faults.filter((fault) => fault === 'hang').length).toBeGreaterThan(1850)
    expect(faults.filter((fault) => fault === undefined).length).toBeGreaterThan(6800)
  })

  it('stops after the given number of requests', () => {
    expect(draw({ shares: { reset: 1 }, seed: 1, times: 2 }, 4)).toEqual(['reset', 'reset', undefined, undefined])
  })
})

describe('markedFault', () => {
  it('reads the mark and ignores names it does not know', () => {
    expect(markedFault('Fix it. [[rehearsal:fault=truncated]]')).toBe('truncated')
    expect(markedFault('[[rehearsal:fault=brimstone]]')).toBeUndefined()
    expect(markedFault('Fix it.')).toBeUndefined()
  })
})
