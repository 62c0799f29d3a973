import { describe, expect, it } from 'vitest'
import { systemClock } from '#platform/clock.ts'
import { allCapabilities } from '../../wire/capabilities.ts'
import { openLocalSlots } from '../slots/slots.ts'
import { openOfferedList } from './offered-models.ts'
import { openConcurrencyLimit, openPooledServer, type RequestEnd } from './pooled-server.ts'

function serverWith(most: number) {
  const endpoint = {
    name: 'http://a/v1',
    capabilities: async () => allCapabilities,
    ask: async () => ({ raw: {}, workarounds: [] }),
    contextTokens: async () => undefined,
    countPrompt: async () => undefined,
    models: async () => [],
  }
  const slots = openLocalSlots().at(endpoint.name, most)
  const shared = { endpoint, offered: openOfferedList(), slots, maxInFlight: most, random: () => 1 }
  const server = openPooledServer({ ...shared, clock: systemClock })
  const send = (count: number) => Array.from({ length: count }, () => server.reserve())
  return { server, send }
}

describe('a server that is overloaded', () => {
  it.each<RequestEnd>(['overloaded', 'unavailable'])(
    '(%s) is sent half of what it had, not of what it might have had',
    (end) => {
      const { server, send } = serverWith(64)
      const [first] = send(10)
      first?.release()
      first?.report(end)
      expect(server.limit.current()).toBe(5)
    },
  )
})

describe('a concurrency limit', () => {
  it('is halved once for all that were under way together, and never below one', () => {
    const time = { now: 10 }
    const limit = openConcurrencyLimit({ most: 16, now: () => time.now })
    for (const sentAt of [1, 2, 3]) limit.cut(sentAt)
    expect(limit.current()).toBe(8)
    for (const sentAt of [10, 11, 12, 13, 14]) {
      time.now = sentAt
      limit.cut(sentAt)
    }
    expect(limit.current()).toBe(1)
  })

  it('is halved where one of a few was refused, however few they were', () => {
    const limit = openConcurrencyLimit({ most: 32, now: () => 0 })
    limit.cut(0, { inFlight: 1 })
    expect(limit.current()).toBe(16)
  })

  it('grows by one for as many good answers as it is large, up to the most', () => {
    const limit = openConcurrencyLimit({ most: 4, now: () => 0 })
    limit.cut(0)
    const sizes = Array.from({ length: 8 }, () => {
      limit.grow()
      return limit.current()
    })
    expect(sizes).toEqual([2, 3, 3, 3, 4, 4, 4, 4])
  })
})
