import { describe, expect, it } from 'vitest'
import { APIError } from 'openai'
import { AppError } from '#domain/error.ts'
import { modelRequest } from './model-server.fixture.ts'
import { refused, good, never, retryBudgetMs, routerOver, watched } from './router.fixture.ts'

/** Of a request; six times the retry budget, as by default. */
const limitMs = 6 * retryBudgetMs

type Play = 'good' | 'hangs' | 'refused' | 'busy for 3 s' | 'busy for 7 s' | 'busy for 25 s'

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
      await play.clock.delay(limitMs)
      throw new AppError('AGENT_002', 'no answer in time', { phase: 'model' })
    },
  }))
  const play = routerOver(served)
  return { asked, ...play }
}

describe('the budget of a request', () => {
  it('begins with its first failure: from a server that hangs it goes to another after one time limit', async () => {
    const { router, pass } = serversThat('hangs', 'good')
    const asked = Array.from({ length: 8 }, (_, key) =>
      watched(router.complete(modelRequest('m', `key ${key}`), never)),
    )
    await pass(limitMs + 1000)
    for (const { end } of asked) expect(end).toMatchObject({ content: 'hi', endpoint: 'http://1/v1' })
    expect(asked.some(({ end }) => Object(end).tries === 2)).toBe(true)
  })

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
