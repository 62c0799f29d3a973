import { APIError } from 'openai'
import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '#domain/turn.ts'
import { asAppError } from '#domain/error.ts'
import { allCapabilities } from '../wire/capabilities.ts'
import { modelRequest } from './model-server.fixture.ts'
import type { Endpoint } from './servers/server-endpoint.ts'
import { refused, good, never, retryBudgetMs, routerOver, watched } from './router.fixture.ts'

describe('requests over time', () => {
  it('have the servers list their models anew, once a minute at most', async () => {
    const askedAt: number[] = []
    const models = async () => {
      askedAt.push(clock.now())
      return ['m']
    }
    const { router, clock, pass } = routerOver([{ models }, {}])
    for (let seconds = 0; seconds < 130; seconds += 10) {
      await router.complete(modelRequest('m'), never)
      await pass(10_000)
    }
    expect(askedAt).toEqual([0, 70_000])
  })

  it('count against a server once each, however often they fail there', async () => {
    const { router, servers, pass } = routerOver([{ ask: () => Promise.reject(refused()) }], { probe: 'good' })
    const [server] = servers
    const poison = watched(router.complete(modelRequest('m'), never))
    await pass(60_000)
    expect([poison.end, server?.breaker.state()]).toMatchObject([{ code: 'AGENT_002' }, 'closed'])
    for (let other = 0; other < 4; other++) void router.complete(modelRequest('m'), never).catch(() => undefined)
    await pass(1000)
    expect(server?.breaker.state()).toBe('open')
  })

  it('are not dismissed while a half-open probe takes long', async () => {
    const playing: { answer?: PromiseWithResolvers<typeof good> } = {}
    const { router, servers, pass } = routerOver([
      { ask: async () => playing.answer?.promise ?? Promise.reject(refused()) },
    ])
    const [server] = servers
    for (let failed = 0; failed < 5; failed++) server?.breaker.fail()
    playing.answer = Promise.withResolvers()
    const asked = Array.from({ length: 4 }, () => watched(router.complete(modelRequest('m'), never)))
    await pass(3 * retryBudgetMs)
    expect(server?.breaker.state()).toBe('half_open')
    expect(asked.filter(({ end }) => end !== undefined)).toEqual([])
    playing.answer.resolve(good)
    await pass(100)
    for (const { end } of asked) expect(end).toMatchObject({ content: 'hi' })
  })

  it('do not start again after their budget, though a slot becomes free', async () => {
    let sent = 0
    const busy = Promise.withResolvers<typeof good>()
    const ask = async ({ prefixKey }: ModelRequest) => {
      sent += 1
      return prefixKey === 'long' ? busy.promise : Promise.reject(refused())
    }
    const { router, pass } = routerOver([{ ask }], { maxInFlight: 1 })
    const failing = watched(router.complete(modelRequest('m', 'failing'), never))
    await pass(100)
    void router.complete(modelRequest('m', 'long'), never)
    await pass(retryBudgetMs)
    expect(failing.end).toMatchObject({ code: 'AGENT_002' })
    busy.resolve(good)
    await pass(1000)
    expect(sent).toBe(2)
  })

  it('are turned away, and are not to blame, when a server that works is too busy for longer than their budget', async () => {
    const busy = () => Promise.reject(APIError.generate(429, { message: 'later' }, undefined, new Headers()))
    const { router, pass } = routerOver([{ ask: busy }], { probe: 'good' })
    const asked = watched(router.complete(modelRequest('m'), never))
    await pass(2 * retryBudgetMs)
    expect(asked.end).toMatchObject({ code: 'AGENT_002', isAway: false, wasTurnedAway: true, mayBeTheRequest: false })
  })

  it('have their budget from when the request is sent, not from when the server is probed', async () => {
    const known = Promise.withResolvers<typeof allCapabilities>()
    let sent = 0
    const ask = async () => ((sent += 1) === 1 ? Promise.reject(refused()) : good)
    const { router, pass } = routerOver([{ ask, capabilities: () => known.promise }])
    const asked = watched(router.complete({ ...modelRequest('m'), tools: [tool], toolChoice: 'required' }, never))
    await pass(2 * retryBudgetMs)
    known.resolve(allCapabilities)
    await pass(1000)
    expect(asked.end).toMatchObject({ content: 'hi', tries: 2 })
  })

  it('end soon after their server is found to hang, whether they were sent or queued', async () => {
    let sent = 0
    const ask: Endpoint['ask'] = (_request, _capabilities, signal) => {
      sent += 1
      return new Promise((_none, reject) =>
        signal.addEventListener('abort', () => reject(asAppError(signal.reason, 'AGENT_002'))),
      )
    }
    const endpoint = { ask, models: () => Promise.reject(refused()) }
    const { router, pass } = routerOver([endpoint], { maxInFlight: 2 })
    const asked = [0, 1, 2, 3].map(() => watched(router.complete(modelRequest('m'), never)))
    await pass(30_000 + retryBudgetMs)
    for (const { end } of asked) expect(end).toMatchObject({ code: 'AGENT_002', isAway: true })
    const queued = asked.slice(2).map(({ end }) => end)
    expect(queued).toMatchObject([{ mayBeTheRequest: false }, { mayBeTheRequest: false }])
    expect(sent).toBe(2)
  })
})

const tool: ModelRequest['tools'][number] = { name: 'do', description: 'Does.', parameters: { type: 'object' } }
