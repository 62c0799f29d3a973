import { afterAll, describe, expect, it } from 'vitest'
import { quickClock } from '#testing/quick-clock.ts'
import { until } from '#testing/until.ts'
import { openUndiciFetch } from '../http/undici-fetch.ts'
import { modelRequest, startModelServer, type Played } from './model-server.fixture.ts'
import { openRouter } from './router.ts'
import { openOfferedList } from './servers/offered-models.ts'
import { openPooledServer } from './servers/pooled-server.ts'
import { openEndpoint } from './servers/server-endpoint.ts'
import { openLocalSlots } from './slots/slots.ts'

const never = new AbortController().signal
const random = () => 1
const allThree = <T>(ending: T) => [ending, ending, ending]

const closing: (() => Promise<unknown> | void)[] = []
afterAll(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const quick = quickClock(10)

/** The router of a pool over these servers, by real sockets. */
async function openPlayed(playing: readonly Played[]) {
  const transport = openUndiciFetch({ maxBytes: 1_000_000 })
  const source = openLocalSlots(quick)
  const played = await Promise.all(playing.map((first) => startModelServer(first, { models: ['m'] })))
  const servers = played.map(({ url }) => {
    // Longer than the test: nothing but the watch over requests in flight may end them.
    const endpoint = openEndpoint({ url, requestTimeoutMs: 600_000, fetch: transport.fetch, clock: quick })
    const slots = source.at(endpoint.name, 8)
    return openPooledServer({ endpoint, offered: openOfferedList(['m']), slots, maxInFlight: 8, clock: quick, random })
  })
  const answers = { pass: async () => {} }
  const router = openRouter({ servers, answers, retryBudgetMs: 20_000, clock: quick, random })
  const close = async () => {
    router.close()
    await transport.close()
  }
  closing.push(...played.map((server) => server.close), close)
  return { played, servers, router, close }
}

/** Three requests are in flight at the only server. */
async function routerOver(playing: Played) {
  const { played, router, close } = await openPlayed([playing])
  const [server] = played
  if (server === undefined) throw new Error('no server')
  const sentAt = quick.now()
  const asked = Promise.allSettled(Array.from({ length: 3 }, () => router.complete(modelRequest('m'), never)))
  await until(() => server.seen, { holds: ({ completions }) => completions === 3 })
  // After 15 s of silence, at the next look (every 5 s), 5 s for the list of models and 10 s for the probe.
  const away = () =>
    until(() => router.health.report('m'), { holds: ({ awaySince }) => awaySince !== null, withinMs: 60_000 })
  return { server, router, asked, sentAt, close, away }
}

describe.concurrent(
  'servers that take everything and answer nothing, beside one that works',
  { timeout: 90_000 },
  () => {
    it('owe no request for long, whenever it was sent, and get none until they answer', async () => {
      const { played, servers, router } = await openPlayed(['frozen', 'frozen', 'good'])
      const [one, other, third] = played
      if (one === undefined || other === undefined || third === undefined) throw new Error('three servers were started')
      const ask = (count: number) =>
        Promise.all(Array.from({ length: count }, (_, at) => router.complete(modelRequest('m', `key ${at}`), never)))
      const areHeld = () => servers.filter(({ breaker }) => breaker.state() === 'open').length === 2
      // One after the other, so that some are sent while the servers are looked at.
      const asked: ReturnType<typeof ask>[] = []
      while (!areHeld()) {
        asked.push(ask(3))
        await quick.delay(1000)
      }
      const replies = (await Promise.all(asked)).flat()
      expect(replies.map(({ endpoint }) => endpoint)).toEqual(replies.map(() => third.url))
      expect(Math.max(...replies.map(({ tries }) => tries))).toBeGreaterThan(1)
      const before = [one.seen.completions, other.seen.completions]
      for (let round = 0; round < 5; round++) await ask(8)
      expect([one.seen.completions, other.seen.completions]).toEqual(before)
      one.plays('good')
      await until(() => ask(8), { holds: (answers) => answers.some(({ endpoint }) => endpoint === one.url) })
    })

    it('get requests when they answer those, although they list no models', async () => {
      const { played, servers, router } = await openPlayed(['hang', 'good'])
      const [slow] = played
      const unlisted = servers[0]
      if (slow === undefined || unlisted === undefined) throw new Error('two servers were started')
      slow.listsNothing()
      slow.plays('good')
      router.health.watch('m')
      await quick.delay(60_000)
      expect(unlisted.breaker.state()).toBe('closed')
    })
  },
)

describe.concurrent(
  'requests in flight at a server that takes everything and answers nothing',
  { timeout: 90_000 },
  () => {
    it('show that the model is away, and are sent again when the server answers others', async () => {
      const { server, router, asked, sentAt, away } = await routerOver('frozen')
      await away()
      expect(quick.now() - sentAt).toBeGreaterThanOrEqual(15_000)
      await expect(router.complete(modelRequest('m'), never)).rejects.toMatchObject({ code: 'AGENT_002', isAway: true })
      expect(server.seen.left).toBe(0) // it may still answer
      expect(router.health.report('m').servers).toMatchObject([{ isWorking: false }])
      server.plays('good')
      const failedTries = [expect.objectContaining({ message: 'the server was silent: the request was given up' })]
      const answered = { status: 'fulfilled', value: { content: 'hi', tries: 2, failedTries } }
      expect(await asked).toMatchObject(allThree(answered))
      expect(router.health.report('m')).toMatchObject({ isWorking: true, awaySince: null })
    })

    it('are left alone while the server lists its models, however long they take', async () => {
      const { server, router, asked, close } = await routerOver('hang')
      await until(() => server.seen.gets, { holds: ({ length }) => length >= 2 })
      expect(router.health.report('m')).toMatchObject({ awaySince: null })
      expect(server.seen).toMatchObject({ completions: 3, left: 0 })
      await close()
      expect(await asked).toMatchObject(allThree({ status: 'rejected' }))
    })

    it('are left alone when the server refused others for a while, as one does that has too much to do', async () => {
      const { server, router, close } = await routerOver('hang')
      server.plays(429)
      expect(await router.health.works('m')).toBe(false)
      server.plays('good')
      await until(() => router.health.report('m'), { holds: ({ isWorking }) => isWorking === true })
      await quick.delay(3000)
      expect(server.seen.left).toBe(0)
      await close()
    })

    it.each(['before', 'after'])('end with the pool %s that is noticed, and leave no socket open', async (when) => {
      const { server, asked, away, close } = await routerOver('frozen')
      if (when === 'after') await away()
      await close()
      expect(await asked).toMatchObject(allThree({ status: 'rejected', reason: { code: 'AGENT_002' } }))
      await until(() => server.connections(), { holds: (count) => count === 0 })
      expect(server.seen.left).toBe(server.seen.completions)
    })
  },
)
