import { describe, expect, it } from 'vitest'
import { systemClock } from '#platform/clock.ts'
import { allCapabilities } from '../../wire/capabilities.ts'
import { chooseReplica } from './choose-replica.ts'
import { openOfferedList } from './offered-list.ts'
import { openLocalPlaces, type Places } from '../places/places.ts'
import { openReplica, type Replica } from './replica.ts'

function replica(name: string, given: { models?: string[]; places?: Places; inFlight?: number; most?: number } = {}) {
  const { models = [], inFlight = 0, most = 8 } = given
  const places = given.places ?? openLocalPlaces().at(name, most)
  const endpoint = {
    name,
    capabilities: async () => allCapabilities,
    ask: async () => ({ raw: {}, workarounds: [] }),
    contextTokens: async () => undefined,
    models: async () => models,
  }
  const offered = openOfferedList(models)
  const made = openReplica({ endpoint, offered, places, maxInFlight: most, clock: systemClock, random: () => 1 })
  for (let sent = 0; sent < inFlight; sent++) {
    places.take(1)
    made.enter()
  }
  return made
}

const choose = (ranked: readonly Replica[], avoid?: Replica) => {
  const chosen = chooseReplica({ ranked, wish: { model: 'm', avoid }, waiting: 1 })
  return typeof chosen === 'object' ? chosen.name : chosen
}

describe('the choice of a replica', () => {
  it('is the first by the key while its load is within the bound', () => {
    expect(choose([replica('a', { inFlight: 2 }), replica('b', { inFlight: 1 })])).toBe('a') // 2 < 1.25 × 4 / 2
    expect(choose([replica('a', { inFlight: 3 }), replica('b')])).toBe('b') // 3 ≥ 1.25 × 4 / 2
  })

  it('gives one that is overloaded a smaller share', () => {
    const slow = replica('slow', { inFlight: 1 })
    slow.limit.cut(Infinity) // 4 of 12: a third of the load
    expect(choose([slow, replica('b', { inFlight: 1 })])).toBe('slow')
    slow.limit.cut(Infinity) // 2 of 10: a fifth
    expect(choose([slow, replica('b', { inFlight: 1 })])).toBe('b')
  })

  it('goes beyond the bound rather than wait while there is a place', () => {
    const none: Places = { take: () => 'full', give() {} }
    expect(choose([replica('a', { inFlight: 3 }), replica('b', { places: none })])).toBe('a')
  })

  it('waits for places that are being asked for where it wants to go', () => {
    const asking: Places = { take: () => 'soon', give() {} }
    expect(choose([replica('a', { places: asking }), replica('b')])).toBe('soon')
  })

  it('is nobody who is full, left alone or does not offer the model', () => {
    const alone = replica('alone')
    for (let failed = 0; failed < 5; failed++) alone.breaker.fail()
    const full = replica('full', { most: 1, inFlight: 1 })
    expect(choose([full, alone, replica('other', { models: ['other'] })])).toBeUndefined()
    expect(choose([full, alone, replica('other', { models: ['other'] }), replica('d', { models: ['m'] })])).toBe('d')
  })

  it('avoids the one that failed while there is another', () => {
    const [a, b] = [replica('a'), replica('b')]
    expect(choose([a, b], a)).toBe('b')
    expect(choose([a], a)).toBe('a')
    const full = replica('full', { most: 1, inFlight: 1 })
    expect(choose([a, full], a)).toBeUndefined()
  })
})
