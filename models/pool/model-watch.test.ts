import { describe, expect, it } from 'vitest'
import { modelRequest } from './model-server.fixture.ts'
import { good, never, refused, routerOver, watched } from './router.fixture.ts'

const minuteMs = 60_000

/** A server at which nothing works. */
function brokenServer() {
  let probes = 0
  const ask = () => Promise.reject(refused())
  return { ...routerOver([{ ask }], { onProbe: () => void (probes += 1) }), probes: () => probes }
}

describe('a model that is away', () => {
  it('is probed until about a minute after its last request, and judged anew by the next one', async () => {
    const { router, pass, probes } = brokenServer()
    const failing = watched(router.complete(modelRequest('m'), never))
    await pass(30_000)
    expect(failing.end).toMatchObject({ code: 'AGENT_002', isAway: true })
    const before = probes()
    await pass(15_000)
    expect(probes()).toBeGreaterThan(before)
    expect(router.health.isUsed('m')).toBe(true)
    await pass(2 * minuteMs)
    const then = probes()
    expect([router.health.isUsed('m'), router.health.isWatched('m')]).toEqual([false, false])
    await pass(5 * minuteMs)
    expect(probes()).toBe(then)
    expect(router.health.report('m')).toMatchObject({ isWorking: null, awaySince: null })
    void watched(router.complete(modelRequest('m'), never))
    await pass(30_000)
    expect(probes()).toBeGreaterThan(then)
    expect(router.health.report('m')).toMatchObject({ isWorking: false })
  })

  it('is probed for as long as somebody asks for its judgement', async () => {
    const { router, pass, probes } = brokenServer()
    for (let ms = 0; ms < 5 * minuteMs; ms += 5000) {
      router.health.watch('m', { freshMs: 5000 })
      await pass(5000)
    }
    expect(probes()).toBeGreaterThan(60)
    expect(router.health.isUsed('m')).toBe(false)
  })
})

describe('a model that works', () => {
  it('is probed again for others when no server has answered for a while, and only then', async () => {
    let probes = 0
    const { router, pass } = routerOver([{ ask: async () => good }], {
      probe: 'good',
      onProbe: () => void (probes += 1),
    })
    router.health.watch('m')
    await pass(10_000)
    expect(probes).toBe(1)
    router.health.watch('m')
    await pass(100)
    expect(probes).toBe(1)
    router.health.watch('m', { freshMs: 5000 })
    router.health.watch('m', { freshMs: 5000 })
    await pass(100)
    expect(probes).toBe(2)
    await router.complete(modelRequest('m'), never)
    router.health.watch('m', { freshMs: 5000 })
    expect(probes).toBe(2)
  })

  it('is watched while a request for it is under way, however long that takes', async () => {
    const answer = Promise.withResolvers<typeof good>()
    const { router, pass } = routerOver([{ ask: () => answer.promise }], { probe: 'good' })
    const asked = watched(router.complete(modelRequest('m'), never))
    await pass(5 * minuteMs)
    router.health.watch('other')
    expect([router.health.isUsed('m'), router.health.isWatched('m')]).toEqual([true, true])
    answer.resolve(good)
    await pass(100)
    expect(asked.end).toMatchObject({ content: 'hi' })
  })
})
