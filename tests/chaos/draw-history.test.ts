import { describe, expect, it } from 'vitest'
import { type FaultName, hostFaultNames, leaseMs, workerCount } from './fault.ts'
import { drawHistory } from './draw-history.ts'

const isOfHost = (kind: FaultName) => hostFaultNames.some((name) => name === kind)
const seeds = Array.from({ length: 400 }, (_none, at) => at)

describe('a history of chaos', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(drawHistory(7)).toEqual(drawHistory(7))
    expect(new Set(seeds.map((seed) => JSON.stringify(drawHistory(seed)))).size).toBe(seeds.length)
  })

  it('has pushes to up to three branches in every third, with faults of the code host, and in each where it is asked to', () => {
    const without = seeds.map((seed) => drawHistory(seed)).filter(({ repository }) => repository === undefined)
    expect(without.length / seeds.length).toBeCloseTo(2 / 3, 1)
    expect(without.flatMap(({ faults }) => faults.filter(({ kind }) => isOfHost(kind)))).toEqual([])
    const histories = seeds.map((seed) => drawHistory(seed, { pushes: true }))
    const branches = histories.map(({ repository }) => new Set(repository?.pushes.map(({ branch }) => branch)).size)
    expect(new Set(branches)).toEqual(new Set([1, 2, 3]))
    for (const { seed, repository, faults, ...history } of histories) {
      const { seed: _seed, repository: _none, faults: ordinary, ...same } = drawHistory(seed, { pushes: false })
      expect(history).toEqual(same)
      expect(faults).toEqual(expect.arrayContaining([...ordinary]))
      expect(faults.filter(({ kind }) => isOfHost(kind)).length).toBeGreaterThanOrEqual(2)
      const texts = repository?.pushes.map(({ files }) => JSON.stringify(files)) ?? []
      expect(new Set(texts).size).toBe(texts.length)
    }
  })

  it('meets every kind of fault over many seeds, and aims only at what is there', () => {
    const drawn = seeds.map((seed) => drawHistory(seed))
    expect(new Set(drawn.flatMap(({ faults }) => faults.map(({ kind }) => kind))).size).toBe(29)
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
