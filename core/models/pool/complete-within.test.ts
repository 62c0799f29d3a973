import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { modelRequest } from './model-server.fixture.ts'
import { gone, good, never, retryBudgetMs, routerOver, watched } from './router.fixture.ts'

/** Of a request; six times the retry budget, as by default. */
const limitMs = 6 * retryBudgetMs

type Play = 'good' | 'hangs' | 'gone'

/** Servers that do so with every request. `asked`: which of them were, and when. */
function serversThat(...plays: Play[]) {
  const asked: { at: number; server: number }[] = []
  const served = plays.map((what, server) => ({
    async ask() {
      asked.push({ at: play.clock.now(), server })
      if (what === 'good') return good
      if (what === 'gone') throw gone()
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
    const { router, asked, pass } = serversThat('gone', 'gone', 'gone')
    watched(router.complete(modelRequest('m'), never))
    await pass(2000)
    expect(new Set(asked.slice(0, 3).map(({ server }) => server)).size).toBe(3)
  })
})
