import { afterEach, describe, expect, it } from 'vitest'
import { systemClock, type Clock } from '#platform/clock.ts'
import { until } from '#testing/until.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { openEndpoint } from './server-endpoint.ts'
import { startModelServer, type PlayedServer } from '../model-server.fixture.ts'
import { openOfferedList } from './offered-models.ts'
import { openLocalSlots } from '../slots/slots.ts'
import { openPooledServer } from './pooled-server.ts'
import { openServerWatch } from './server-watch.ts'

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

type Pages = NonNullable<Parameters<typeof startModelServer>[1]>

/** A watch whose time advances by `turn()`, which runs one whole round. */
async function watching(pages: Pages, given?: PlayedServer, { most = 8 } = {}) {
  const server = given ?? (await startModelServer('good', pages))
  const time: { now: number; due: (() => void)[] } = { now: 0, due: [] }
  const after: Clock['after'] = (_ms, work) => {
    time.due.push(work)
    return () => void time.due.splice(time.due.indexOf(work), 1)
  }
  const clock: Clock = { ...systemClock, now: () => time.now, after }
  const endpoint = openEndpoint({ url: server.url, requestTimeoutMs: 1000, fetch })
  const slots = openLocalSlots(clock).at(server.url, most)
  const offered = openOfferedList()
  const pooled = openPooledServer({ endpoint, offered, slots, maxInFlight: most, clock, random: () => 1 })
  const rounds = { done: 0 }
  const onRound = (round: number) => void (rounds.done = round)
  const servers = [{ server: pooled, url: server.url, apiKey: 'sk-1' }]
  const watch = openServerWatch({ servers, clock, isInUse: () => false, onRound })
  opened.push(server, watch)
  const turn = async () => {
    const before = rounds.done
    watch.touch()
    time.now += 5000
    time.due.shift()?.()
    await until(() => rounds, { holds: ({ done }) => done > before })
  }
  return { server, watch, pooled, turn, due: () => time.due.length, idle: () => time.due.shift()?.() }
}

/** Half-open probes and other requests fail. */
function keepOpen(breaker: CircuitBreaker) {
  breaker.endPause()
  breaker.enter()
  for (let failed = 0; failed < 5; failed++) breaker.fail()
}

describe('the watch over servers', () => {
  it('reads what a server says of itself', async () => {
    const { watch, pooled, turn, server } = await watching({ metrics: 'vllm:num_requests_running{a="b"} 3\n' })
    await turn()
    expect(watch.metrics(pooled)).toEqual({ running: 3 })
    expect(server.seen.gets).toEqual(['/metrics'])
  })

  it('cuts what is in flight, not what might be, and lets it grow back within a minute and a half', async () => {
    const pages: Pages = { metrics: 'vllm:num_requests_waiting 200\nvllm:num_requests_running 2\n' }
    const { pooled, turn } = await watching(pages, undefined, { most: 64 })
    const sent = Array.from({ length: 8 }, () => [pooled.slots.take(1), pooled.reserve()] as const)
    for (let round = 0; round < 2; round++) await turn()
    expect([pooled.limit.current(), pooled.slots.take(1)]).toEqual([6, 'full'])
    for (const [, reservation] of sent.slice(0, 3)) reservation.release()
    expect([pooled.slots.take(1), pooled.slots.take(1)]).toEqual(['taken', 'full'])
    pages.metrics = 'vllm:num_requests_running 2\n'
    for (let round = 0; round < 2; round++) await turn()
    expect(pooled.limit.current()).toBe(6)
    for (let round = 0; round < 12; round++) await turn()
    expect(pooled.limit.current()).toBe(64)
  })

  it('counts a server that no longer answers as failing, until its breaker opens', async () => {
    const { pooled, turn, server } = await watching({ metrics: 'vllm:num_requests_running 3\n' })
    await turn()
    server.close()
    for (let round = 0; round < 5; round++) await turn()
    expect(pooled.breaker.state()).toBe('open')
  })

  it('does not count a page that is too large against the server', async () => {
    const pages: Pages = { metrics: 'vllm:num_requests_running 3\n' }
    const { watch, pooled, turn } = await watching(pages)
    await turn()
    pages.metrics = `vllm:num_requests_running 3\n${'#'.repeat(5 * 1024 * 1024)}`
    for (let round = 0; round < 6; round++) await turn()
    expect(watch.metrics(pooled)).toBeUndefined()
    expect(pooled.breaker.state()).toBe('closed')
  })

  it('asks a server with an open breaker whether it is well, and then admits a probe', async () => {
    const { pooled, turn, server } = await watching({ metrics: 'llamacpp:requests_processing 1\n' })
    await turn()
    for (let pause = 0; pause < 8; pause++) keepOpen(pooled.breaker)
    expect(pooled.breaker.pauseLeftMs()).toBeGreaterThan(10_000)
    await turn()
    expect(server.seen.gets).toEqual(['/metrics', '/metrics', '/health'])
    expect(pooled.breaker.admits()).toBe(true)
  })

  it.each([503, 404, 500])('leaves a server that answers its pages with %i to the requests', async (status) => {
    const { watch, pooled, turn, server } = await watching({ metrics: status, health: status })
    for (let round = 0; round < 8; round++) await turn()
    expect([watch.metrics(pooled), pooled.breaker.state()]).toEqual([undefined, 'closed'])
    expect(server.seen.gets).toEqual(['/metrics'])
  })

  it('asks nothing more of one whose metrics are not a model server’s, and looks again after minutes', async () => {
    const { turn, server } = await watching({ metrics: 'litellm_requests 3\n' })
    for (let round = 0; round < 30; round++) await turn()
    expect(server.seen.gets).toEqual(['/metrics'])
    for (let round = 0; round < 10; round++) await turn()
    expect(server.seen.gets).toEqual(['/metrics', '/metrics'])
  })

  it('looks next to `/v1` first, then at the root', async () => {
    const given = await startModelServer('good', { metrics: 'vllm:num_requests_running 3\n' })
    const url = given.url.replace('/v1', '/team-a/v1/')
    const { turn, server, watch, pooled } = await watching({}, { ...given, url })
    for (let round = 0; round < 2; round++) await turn()
    expect(server.seen.gets).toEqual(['/team-a/metrics', '/metrics', '/metrics'])
    expect(watch.metrics(pooled)).toEqual({ running: 3 })
  })

  it('checks nothing and has no timer while the servers are not used, or once closed', async () => {
    const { watch, server, turn, due, idle } = await watching({})
    expect(due()).toBe(0)
    await turn()
    expect(due()).toBe(1)
    idle()
    expect(due()).toBe(0)
    expect(server.seen.gets).toHaveLength(1)
    watch.touch()
    await watch.close()
    watch.touch()
    expect(due()).toBe(0)
  })
})
