import { fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { openingsOf, shareWindow, type Demand } from './share-window.ts'

function demandOf(run: number, over: Partial<Demand> = {}): Demand {
  return { runId: `r${String(run).padStart(9, '0')}`, projectId: 'first', priority: 4, demand: 100, ...over }
}

const demands: fc.Arbitrary<Demand[]> = fc
  .array(
    fc.record({
      projectId: fc.constantFrom('first', 'second', 'third'),
      priority: fc.nat({ max: 9 }),
      demand: fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 100_000 })),
    }),
    { maxLength: 12 },
  )
  .map((runs) => runs.map((run, at) => demandOf(at, run)))
const windows = fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 5_000 }))

function sharesOf(runs: readonly Demand[], window: number): number[] {
  const shares = shareWindow(runs, window)
  return runs.map(({ runId }) => shares.get(runId) ?? 0)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

describe('sharing the window', () => {
  it('splits it equally between projects, however many runs each has', () => {
    const runs = [demandOf(1), demandOf(2, { projectId: 'second' }), demandOf(3, { projectId: 'second' })]
    expect(sharesOf(runs, 16)).toEqual([8, 4, 4])
  })

  it('gives a small run behind a large one all it can use', () => {
    expect(sharesOf([demandOf(1, { demand: 100_000 }), demandOf(2, { demand: 3 })], 16)).toEqual([13, 3])
  })

  it('weighs the runs of one project by priority, and never one project against another', () => {
    const runs = [demandOf(1, { priority: 0 }), demandOf(2, { priority: 9 })]
    expect(sharesOf(runs, 22)).toEqual([20, 2])
    expect(sharesOf([demandOf(1, { priority: 0 }), demandOf(2, { priority: 9, projectId: 'second' })], 22)).toEqual([
      11, 11,
    ])
  })

  it('uses the whole window or meets every demand, and gives no run more than it asked for or less than one', () => {
    fc.assert(
      fc.property(demands, windows, (runs, window) => {
        const shares = sharesOf(runs, window)
        const asking = runs.filter(({ demand }) => demand > 0).length
        expect(shareWindow(runs, window).size).toBe(asking)
        expect(sum(shares)).toBe(Math.min(sum(runs.map(({ demand }) => demand)), Math.max(window, asking)))
        for (const [at, { demand }] of runs.entries()) {
          expect(shares[at]).toBeLessThanOrEqual(demand)
          expect(shares[at]).toBeGreaterThanOrEqual(Math.min(1, demand))
          expect(Number.isInteger(shares[at])).toBe(true)
        }
      }),
    )
  })

  it('lets no run have more for its weight than another of its project that could use it', () => {
    fc.assert(
      fc.property(demands, windows, (runs, window) => {
        const shares = sharesOf(runs, window)
        for (const [rich, one] of runs.entries()) {
          for (const [poor, other] of runs.entries()) {
            const [more = 0, less = 0] = [shares[rich], shares[poor]]
            if (one.projectId !== other.projectId || more <= 1 || less >= other.demand) continue
            expect(more / (10 - one.priority)).toBeLessThanOrEqual((less + 1) / (10 - other.priority) + 1e-9)
          }
        }
      }),
    )
  })

  it('lets no project have more than another that could use it, but for one operation of each of its runs', () => {
    fc.assert(
      fc.property(demands, windows, (runs, window) => {
        const shares = sharesOf(runs, window)
        const projects = [...Map.groupBy(runs.entries(), ([, { projectId }]) => projectId).values()].map((own) => ({
          runs: own.filter(([, { demand }]) => demand > 0).length,
          demand: sum(own.map(([, { demand }]) => demand)),
          share: sum(own.map(([at]) => shares[at] ?? 0)),
        }))
        const least = Math.min(...projects.filter(({ share, demand }) => share < demand).map(({ share }) => share))
        const above = projects.filter(({ share, runs: asking }) => share > Math.max(asking, least + 1))
        expect(above).toEqual([])
      }),
    )
  })

  it('does not depend on the order of the runs', () => {
    const shuffled = demands.chain((runs) =>
      fc.tuple(fc.constant(runs), fc.shuffledSubarray(runs, { minLength: runs.length })),
    )
    fc.assert(
      fc.property(shuffled, windows, ([runs, others], window) => {
        const inOrder = (map: Map<string, number>) => [...map].toSorted(([one], [other]) => (one < other ? -1 : 1))
        expect(inOrder(shareWindow(others, window))).toEqual(inOrder(shareWindow(runs, window)))
      }),
    )
  })
})

describe('opening operations', () => {
  const whole = fc.nat({ max: 100 })
  const runs = fc.record({ share: fc.integer({ min: 1, max: 100 }), underWay: whole })
  const sizes = fc.record({ size: whole, others: whole, operations: whole })

  it('stays within the share, uses what is free of the window, and lets no run wait that has nothing under way', () => {
    fc.assert(
      fc.property(runs, sizes, ({ share, underWay }, { size, others, operations }) => {
        const opened = openingsOf({ share, underWay }, { size, underWay: others + underWay, operations })
        const wanted = Math.max(0, share - underWay)
        const free = Math.max(0, size - others - underWay)
        expect(opened).toBeLessThanOrEqual(wanted)
        expect(opened).toBeGreaterThanOrEqual(Math.min(wanted, Math.max(free, underWay === 0 ? 1 : 0)))
      }),
    )
  })

  it('beyond the window leaves as much to the next run as the run has, and the same run gets no more of it', () => {
    fc.assert(
      fc.property(runs, sizes, ({ share, underWay }, { size, others, operations }) => {
        const total = others + underWay
        const opened = openingsOf({ share, underWay }, { size, underWay: total, operations })
        fc.pre(opened > 1 && total + opened > size)
        expect(operations - total - opened).toBeGreaterThanOrEqual(underWay + opened - 1)
        const after = { size, underWay: total + opened, operations }
        expect(openingsOf({ share, underWay: underWay + opened }, after)).toBe(0)
      }),
    )
  })
})
