import { describe, expect, it } from 'vitest'
import { openRanking } from './rank-replicas.ts'

const named = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `http://10.0.0.${at}:8000/v1` }))
const keys = Array.from({ length: 8000 }, (_, at) => `bundle-${at}`)

describe('the ranking of replicas', () => {
  it('spreads keys evenly', () => {
    const rank = openRanking(named(8))
    const counts = new Map<string, number>()
    for (const key of keys) {
      const first = rank(key)[0]?.name ?? ''
      counts.set(first, (counts.get(first) ?? 0) + 1)
    }
    expect(counts.size).toBe(8)
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150)
  })

  it('moves only the keys of a replica that goes', () => {
    const all = named(8)
    const [rank, without] = [openRanking(all), openRanking(all.slice(1))]
    for (const key of keys) expect(without(key)).toEqual(rank(key).filter((replica) => replica !== all[0]))
  })

  it('is the same whatever the order of the replicas, and spreads what is taken over', () => {
    const all = named(8)
    const [rank, reversed] = [openRanking(all), openRanking(all.toReversed())]
    const seconds = new Set<string>()
    for (const key of keys) {
      expect(reversed(key)).toEqual(rank(key))
      if (rank(key)[0] === all[0]) seconds.add(rank(key)[1]?.name ?? '')
    }
    expect(seconds.size).toBe(7)
  })
})
