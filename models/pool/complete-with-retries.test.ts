import { describe, expect, it } from 'vitest'
import { APIConnectionTimeoutError, APIError } from 'openai'
import { CutReply } from '#domain/error.ts'
import { modelRequest } from './model-server.fixture.ts'
import { refused, good, never, retryBudgetMs, routerOver, watched } from './router.fixture.ts'

/** Of a request; six times the retry budget, as by default. */
const limitMs = 6 * retryBudgetMs
const longReplyMs = 3 * retryBudgetMs

type Play = 'good' | 'hangs' | 'breaks off' | 'refused' | 'busy for 3 s' | 'busy for 7 s' | 'busy for 25 s'

/** Servers that do so with every request. `asked`: which of them were, and when. */
function serversThat(...plays: Play[]) {
  const asked: { at: number; server: number }[] = []
  const served = plays.map((what, server) => ({
    async ask() {
      asked.push({ at: play.clock.now(), server })
      if (what === 'good') return good
      if (what === 'refused') throw refused()
      const [seconds] = /\d+/.exec(what) ?? []
      if (seconds !== undefined) throw APIError.generate(429, {}, undefined, new Headers({ 'retry-after': seconds }))
      await play.clock.delay(what === 'breaks off' ? longReplyMs : limitMs)
      throw what === 'breaks off' ? new CutReply('the stream ended') : new APIConnectionTimeoutError()
    },
  }))
  const play = routerOver(served)
  return { asked, ...play }
}

describe('the budget of a request', () => {
  it('bounds when new tries begin, not how long one takes', async () => {
    const { router, asked, pass } = serversThat('hangs')
    const state = watched(router.complete(modelRequest('m'), never))
    await pass(2 * limitMs + retryBudgetMs)
    expect(asked).toHaveLength(2)
    expect(state.end).toMatchObject({
      code: 'AGENT_002',
      message: expect.stringMatching(/no answer in time \(2 tries/),
    })
  })

  it('reaches the third server when two hang, and within the budget', async () => {
    const { router, asked, pass } = serversThat('hangs', 'hangs', 'good')
    const requests = Array.from({ length: 12 }, (_, key) =>
      watched(router.complete(modelRequest('m', `key ${key}`), never)),
    )
    await pass(limitMs + retryBudgetMs)
    for (const { end } of requests) expect(end).toMatchObject({ content: 'hi', endpoint: 'http://2/v1' })
    expect(asked.filter(({ at, server }) => at > limitMs && server < 2).length).toBeGreaterThan(0)
  })

  it('begins anew with every server that fails it for the first time', async () => {
    const { router, pass } = serversThat('refused', 'hangs', 'good')
    const requests = Array.from({ length: 12 }, (_, key) =>
      watched(router.complete(modelRequest('m', `key ${key}`), never)),
    )
    await pass(2 * limitMs)
    for (const { end } of requests) expect(end).toMatchObject({ content: 'hi', endpoint: 'http://2/v1' })
  })

  it('lasts for three replies that break off, however long each was', async () => {
    const { router, asked, pass } = serversThat('breaks off')
    const state = watched(router.complete(modelRequest('m'), never))
    await pass(4 * longReplyMs)
    expect(state.end).toMatchObject({ code: 'AGENT_008', message: expect.stringContaining('(3 tries') })
    expect(asked).toHaveLength(3)
  })

  it('is used in full for replies that break off at once', async () => {
    let sent = 0
    const ask = async () => ((sent += 1) > 5 ? good : Promise.reject(new CutReply('the stream ended')))
    const { router, pass } = routerOver([{ ask }])
    const state = watched(router.complete(modelRequest('m'), never))
    await pass(retryBudgetMs)
    expect(state.end).toMatchObject({ content: 'hi', tries: 6 })
  })

  it('goes to those first at which the request has not failed', async () => {
    const { router, asked, pass } = serversThat('refused', 'refused', 'refused')
    watched(router.complete(modelRequest('m'), never))
    await pass(2000)
    expect(new Set(asked.slice(0, 3).map(({ server }) => server)).size).toBe(3)
  })
})

describe('a server that names a time', () => {
  const ask = async (...plays: Play[]) => {
    const { router, asked, pass } = serversThat(...plays)
    const state = watched(router.complete(modelRequest('m'), never))
    await pass(2 * retryBudgetMs)
    const timesOf = (server: number) => asked.filter((one) => one.server === server).map(({ at }) => at)
    return { end: state.end, timesOf }
  }
  const gaps = (times: readonly number[]) => times.slice(1).map((at, before) => at - (times[before] ?? 0))

  it('is not asked again before it, though there is another, and each is when its own has come', async () => {
    const { end, timesOf } = await ask('busy for 3 s', 'busy for 7 s')
    expect(end).toMatchObject({ code: 'AGENT_002' })
    expect([Math.min(...gaps(timesOf(0))), Math.min(...gaps(timesOf(1)))]).toEqual([
      expect.toSatisfy((ms: number) => ms >= 3000),
      expect.toSatisfy((ms: number) => ms >= 7000),
    ])
    expect([timesOf(0).length, timesOf(1).length]).toEqual([expect.toSatisfy((n: number) => n >= 4), 3])
  })

  it('keeps no request from another that has named none', async () => {
    const { end, timesOf } = await ask('busy for 25 s', 'busy for 25 s', 'good')
    expect(end).toMatchObject({ content: 'hi', endpoint: 'http://2/v1' })
    expect([timesOf(0).length, timesOf(1).length].every((times) => times <= 1)).toBe(true)
  })

  it('beyond the budget, as have all, ends the request', async () => {
    const { end, timesOf } = await ask('busy for 25 s', 'busy for 25 s')
    expect(end).toMatchObject({ code: 'AGENT_002', message: expect.stringContaining('(2 tries') })
    expect([...timesOf(0), ...timesOf(1)]).toHaveLength(2)
  })
})
