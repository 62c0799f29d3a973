import { describe, expect, it } from 'vitest'
import { type FaultName, hostFaultNames, leaseMs, machineNames, networkFaultNames, workerCount } from './fault.ts'
import { drawHistory } from './draw-history.ts'

const isOfHost = (kind: FaultName) => hostFaultNames.some((name) => name === kind)
const seeds = Array.from({ length: 400 }, (_none, at) => at)

describe('a history of chaos', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(drawHistory(7)).toEqual(drawHistory(7))
    expect(new Set(seeds.map((seed) => JSON.stringify(drawHistory(seed)))).size).toBe(seeds.length)
  })

  it('has one to three runs over 8 to 25 functions, and two to seven faults in their order', () => {
    for (const { source, submissions, faults: all } of seeds.map((seed) => drawHistory(seed))) {
      const faults = all.filter(({ kind }) => !isOfHost(kind))
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
      expect(all.map(({ atMs }) => atMs)).toEqual(all.map(({ atMs }) => atMs).toSorted((a, b) => a - b))
    }
  })

  it('has the same runs and first faults between machines, and faults of the network besides', () => {
    for (const seed of seeds) {
      const { faults, ...history } = drawHistory(seed, { machines: true })
      const { faults: without, ...same } = drawHistory(seed)
      expect(history).toEqual({ ...same, repository: undefined })
      const ofTheNetwork = faults.filter((fault) => 'machine' in fault)
      expect(ofTheNetwork.length).toBeGreaterThanOrEqual(1)
      expect(faults.length - ofTheNetwork.length).toBe(2)
      expect(without).toEqual(expect.arrayContaining(faults.filter((fault) => !('machine' in fault))))
    }
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

  it('cuts for less than a lease, for longer than one, and for longer than the limits of a connection', () => {
    const faults = seeds.flatMap((seed) => drawHistory(seed, { machines: true }).faults)
    const cuts = faults.flatMap((fault) => (fault.kind === 'cut' || fault.kind === 'half_cut' ? [fault.forMs] : []))
    for (const [least, most] of [
      [1_000, leaseMs],
      [leaseMs, 10_000],
      [20_000, 40_000],
    ] as const) {
      expect(cuts.filter((ms) => ms >= least && ms <= most).length).toBeGreaterThan(20)
    }
    const kinds = new Set(faults.filter((fault) => 'machine' in fault).map(({ kind }) => kind))
    expect([...kinds].toSorted()).toEqual([...networkFaultNames].toSorted())
    const machines = faults.flatMap((fault) => ('machine' in fault ? [fault.machine] : []))
    expect(new Set(machines)).toEqual(new Set(machineNames.keys()))
  })

  it('meets every kind of fault over many seeds, and aims only at what is there', () => {
    const drawn = seeds.map((seed) => drawHistory(seed))
    expect(new Set(drawn.flatMap(({ faults }) => faults.map(({ kind }) => kind))).size).toBe(22)
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
