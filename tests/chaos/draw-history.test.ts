import { describe, expect, it } from 'vitest'
import { leaseMs, workerCount } from './fault.ts'
import { drawHistory } from './draw-history.ts'

const seeds = Array.from({ length: 400 }, (_none, at) => at)

describe('a history of chaos', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(drawHistory(7)).toEqual(drawHistory(7))
    expect(new Set(seeds.map((seed) => JSON.stringify(drawHistory(seed)))).size).toBe(seeds.length)
  })

  it('has one to three runs over 8 to 25 functions, and two to seven faults in their order', () => {
    for (const { source, submissions, faults } of seeds.map(drawHistory)) {
      const functions =
        Object.values(source)
          .join('')
          .match(/^ *def /gm)?.length ?? 0
      expect(functions).toBeGreaterThanOrEqual(8)
      expect(functions).toBeLessThanOrEqual(25)
      expect(submissions.length).toBeGreaterThanOrEqual(1)
      expect(submissions.length).toBeLessThanOrEqual(3)
      expect(faults.length).toBeGreaterThanOrEqual(2)
      expect(faults.length).toBeLessThanOrEqual(7)
      expect(faults.map(({ atMs }) => atMs)).toEqual(faults.map(({ atMs }) => atMs).toSorted((a, b) => a - b))
    }
  })

  it('meets every kind of fault over many seeds, and aims only at what is there', () => {
    const drawn = seeds.map(drawHistory)
    expect(new Set(drawn.flatMap(({ faults }) => faults.map(({ kind }) => kind))).size).toBe(16)
    expect(new Set(drawn.map(({ streams }) => streams)).size).toBe(2)
    const aimless = drawn.flatMap(({ faults, submissions }) =>
      faults.filter(
        (fault) =>
          ('worker' in fault && fault.worker >= workerCount) ||
          (fault.kind === 'cancel_run' && fault.run >= submissions.length) ||
          (fault.kind === 'freeze_worker' && fault.forMs <= leaseMs),
      ),
    )
    expect(aimless).toEqual([])
  })
})
