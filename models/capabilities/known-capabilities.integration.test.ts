import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '#platform/clock.ts'
import { until } from '#testing/until.ts'
import { OpenAiClient } from '../http/openai-client.ts'
import { openUndiciFetch } from '../http/undici-fetch.ts'
import { openLocalCapabilityStore } from './capability-store.ts'
import { openKnownCapabilities } from './known-capabilities.ts'
import { playServer, type PlayedAnswer, type PlayedBody } from './played-server.fixture.ts'

const never = new AbortController().signal
const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const minuteMs = 60_000
const withoutNames = (body: PlayedBody): PlayedAnswer =>
  typeof body.tool_choice === 'object' ? { status: 400 } : { content: 'Hi' }

/** The test advances the time. `random` is a half, so pauses have exactly their nominal length. */
async function open(play: (body: PlayedBody) => PlayedAnswer, { firstWaitMs = 10_000 } = {}) {
  const playing = { play }
  const server = await playServer((body) => playing.play(body))
  const transport = openUndiciFetch({ maxBytes: 1_000_000 })
  const closed = new AbortController()
  closing.push(server.close, transport.close, () => closed.abort(new Error('closed')))
  const client = new OpenAiClient({
    url: server.url,
    apiKey: undefined,
    requestTimeoutMs: minuteMs,
    fetch: transport.fetch,
  })
  let now = 0
  const rests: number[] = []
  const known = openKnownCapabilities({
    client,
    timeoutMs: 10_000,
    endpoint: server.url,
    store: { ...openLocalCapabilityStore(), finish: async (_server, _model, _probed, ms) => void rests.push(ms) },
    clock: { ...systemClock, now: () => now },
    random: () => 0.5,
    firstWaitMs,
    closing: closed.signal,
  })
  const named = async () => (await known.of('small', never)).named
  return { playing, bodies: server.bodies, named, rests, pass: (ms: number) => (now += ms) }
}

describe('what is known of a server', () => {
  it('is not forgotten when the server is busy, and asked again more and more seldom', async () => {
    const { playing, bodies, named, pass, rests } = await open(withoutNames)
    expect(await named()).toBe(false)
    playing.play = () => ({ status: 429 })
    pass(10 * minuteMs)
    const asked = bodies.length
    for (const misses of [1, 2, 3, 4, 5]) {
      await until(
        async () => {
          expect(await named()).toBe(false)
          pass(minuteMs)
          return rests
        },
        { holds: ({ length }) => length > misses },
      )
    }
    expect(rests.map((ms) => ms / minuteMs)).toEqual([10, 0.5, 1, 2, 5, 5])
    expect(bodies).toHaveLength(asked + 5)
  })

  it('is what was found so far, for a request that has waited long enough', async () => {
    const play = (body: PlayedBody) => (body.response_format === undefined ? withoutNames(body) : 'hang')
    const { named } = await open(play, { firstWaitMs: 1000 })
    expect(await named()).toBe(false)
  })
})
