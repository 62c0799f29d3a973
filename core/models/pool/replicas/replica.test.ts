import { describe, expect, it } from 'vitest'
import { systemClock } from '#platform/clock.ts'
import { allCapabilities } from '../../wire/capabilities.ts'
import { openLocalPlaces } from '../places/places.ts'
import { openOfferedList } from './offered-list.ts'
import { openReplica, type SeatEnd } from './replica.ts'

function replicaWith(most: number) {
  const endpoint = {
    name: 'http://a/v1',
    capabilities: async () => allCapabilities,
    ask: async () => ({ raw: {}, workarounds: [] }),
    contextTokens: async () => undefined,
    models: async () => [],
  }
  const places = openLocalPlaces().at(endpoint.name, most)
  const shared = { endpoint, offered: openOfferedList(), places, maxInFlight: most, random: () => 1 }
  const replica = openReplica({ ...shared, clock: systemClock })
  const send = (count: number) => Array.from({ length: count }, () => replica.enter())
  return { replica, send }
}

describe('a server that is overloaded', () => {
  it.each<SeatEnd>(['overloaded', 'unavailable'])(
    '(%s) is sent half of what it had, not of what it might have had',
    (end) => {
      const { replica, send } = replicaWith(64)
      const [first] = send(10)
      first?.vacate()
      first?.tell(end)
      expect(replica.limit.current()).toBe(5)
    },
  )

  it('is cut once for all that it refuses together', () => {
    const { replica, send } = replicaWith(64)
    const visits = send(10)
    for (const visit of visits) visit.vacate()
    for (const visit of visits.toReversed()) visit.tell('overloaded')
    expect(replica.limit.current()).toBe(5)
  })
})
