import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '#platform/clock.ts'
import { until } from '#testing/until.ts'
import { OpenAiClient } from '../http/openai-client.ts'
import { openUndiciFetch } from '../http/undici-fetch.ts'
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

/** The test advances the time. `random` is a half, so pauses have exactly their nominal length; each probe draws it once, at its end. */
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
  let ends = 0
  const known = openKnownCapabilities({
    client,
    timeoutMs: 10_000,
    endpoint: server.url,
    clock: { ...systemClock, now: () => now },
    random() {
      ends += 1
      return 0.5
    },
    firstWaitMs,
    closing: closed.signal,
  })
  const named = async () => (await known.of('small', never)).named
  const pass = (ms: number) => void (now += ms)
  /** Returns once everything that was sent before has arrived. */
  const arrive = () => transport.fetch(`${server.url}/models`)
  return { playing, named, arrive, ends: () => ends, now: () => now, pass }
}

describe('what is known of a server', () => {
  it('is not forgotten when the server is busy, and asked again more and more seldom', async () => {
    const { playing, named, arrive, pass, now, ends } = await open(withoutNames)
    expect(await named()).toBe(false)
    const askedAt: number[] = []
    playing.play = () => {
      askedAt.push(now() / minuteMs)
      return { status: 429 }
    }
    for (const restMs of [10, 0.5, 1, 2, 5, 5].map((minutes) => minutes * minuteMs)) {
      const before = ends()
      pass(restMs - 1)
      expect(await named()).toBe(false)
      await arrive()
      pass(1)
      expect(await named()).toBe(false)
      await until(() => ends() > before)
    }
    expect(askedAt).toEqual([10, 10.5, 11.5, 13.5, 18.5, 23.5])
  })

  it('is what was found so far, for a request that has waited long enough', async () => {
    const play = (body: PlayedBody) => (body.response_format === undefined ? withoutNames(body) : 'hang')
    const { named } = await open(play, { firstWaitMs: 1000 })
    expect(await named()).toBe(false)
  })
})
