import { describe, expect, it } from 'vitest'
import { systemClock } from '#platform/clock.ts'
import { allCapabilities } from '../../wire/capabilities.ts'
import { chooseServer, openRanking } from './choose-server.ts'
import { openOfferedList } from './offered-models.ts'
import { openLocalSlots, type ServerSlots } from '../slots/slots.ts'
import { openPooledServer, type PooledServer } from './pooled-server.ts'

function server(
  name: string,
  given: { models?: string[]; slots?: ServerSlots; inFlight?: number; most?: number } = {},
) {
  const { models = [], inFlight = 0, most = 8 } = given
  const slots = given.slots ?? openLocalSlots().at(name, most)
  const endpoint = {
    name,
    capabilities: async () => allCapabilities,
    ask: async () => ({ raw: {}, workarounds: [] }),
    contextTokens: async () => undefined,
    countPrompt: async () => undefined,
    models: async () => models,
  }
  const offered = openOfferedList(models)
  const made = openPooledServer({ endpoint, offered, slots, maxInFlight: most, clock: systemClock, random: () => 1 })
  for (let sent = 0; sent < inFlight; sent++) {
    slots.take(1)
    made.reserve()
  }
  return made
}

const choose = (ranked: readonly PooledServer[], avoid?: PooledServer) => {
  const chosen = chooseServer({ ranked, request: { model: 'm', avoid }, waiting: 1 })
  return typeof chosen === 'object' ? chosen.name : chosen
}

describe('the choice of a server', () => {
  it('is the first by the key while its load is within the bound', () => {
    expect(choose([server('a', { inFlight: 2 }), server('b', { inFlight: 1 })])).toBe('a') // 2 < 1.25 × 4 / 2
    expect(choose([server('a', { inFlight: 3 }), server('b')])).toBe('b') // 3 ≥ 1.25 × 4 / 2
  })

  it('gives one that is overloaded a smaller share', () => {
    const slow = server('slow', { inFlight: 1 })
    slow.limit.cut(Infinity) // 4 of 12: a third of the load
    expect(choose([slow, server('b', { inFlight: 1 })])).toBe('slow')
    slow.limit.cut(Infinity) // 2 of 10: a fifth
    expect(choose([slow, server('b', { inFlight: 1 })])).toBe('b')
  })

  it('goes beyond the bound rather than wait while there is a slot', () => {
    const none: ServerSlots = { ...openLocalSlots().at('full', 8), take: () => 'full' }
    expect(choose([server('a', { inFlight: 3 }), server('b', { slots: none })])).toBe('a')
  })

  it('waits for slots that are being requested at the preferred server', () => {
    const asking: ServerSlots = { ...openLocalSlots().at('asking', 8), take: () => 'soon' }
    expect(choose([server('a', { slots: asking }), server('b')])).toBe('soon')
  })

  it('is never one that is full, has an open breaker or does not offer the model', () => {
    const open = server('open')
    for (let failed = 0; failed < 5; failed++) open.breaker.fail()
    const full = server('full', { most: 1, inFlight: 1 })
    expect(choose([full, open, server('other', { models: ['other'] })])).toBeUndefined()
    expect(choose([full, open, server('other', { models: ['other'] }), server('d', { models: ['m'] })])).toBe('d')
  })

  it('avoids the one that failed while there is another', () => {
    const [a, b] = [server('a'), server('b')]
    expect(choose([a, b], a)).toBe('b')
    expect(choose([a], a)).toBe('a')
    const full = server('full', { most: 1, inFlight: 1 })
    expect(choose([a, full], a)).toBeUndefined()
  })
})

const named = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `http://10.0.0.${at}:8000/v1` }))
const keys = Array.from({ length: 8000 }, (_, at) => `bundle-${at}`)

describe('the ranking of servers', () => {
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

  it('moves only the keys of a server that is removed', () => {
    const all = named(8)
    const [rank, without] = [openRanking(all), openRanking(all.slice(1))]
    for (const key of keys) expect(without(key)).toEqual(rank(key).filter((one) => one !== all[0]))
  })

  it('is the same whatever the order of the servers, and spreads what is taken over', () => {
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
