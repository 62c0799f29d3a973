import { describe, expect, it } from 'vitest'
import { AppError, asAppError } from '#domain/error.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { allCapabilities } from '../wire/capabilities.ts'
import type { Endpoint } from './replicas/endpoint.ts'
import { modelRequest } from './model-server.fixture.ts'
import { openOfferedList } from './replicas/offered-list.ts'
import { openLocalPlaces } from './places/places.ts'
import { openReplica } from './replicas/replica.ts'
import { openRouter } from './router.ts'

const raw = { choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] }
const good = { raw, workarounds: [] }
const gone = () => new AppError('AGENT_002', 'no answer: ECONNREFUSED', { phase: 'model' })
const retryBudgetMs = 20_000

/** Every promise that can settle has settled. */
const settled = () => new Promise(setImmediate)

/** Time goes on by `pass` alone, a step at a time, so that what follows from each step has happened. */
function manualClock() {
  let time = 0
  let due: { at: number; work: () => void }[] = []
  const after = (ms: number, work: () => void) => {
    const one = { at: time + ms, work }
    due.push(one)
    return () => void (due = due.filter((other) => other !== one))
  }
  const delay = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      after(ms, resolve)
      signal?.addEventListener('abort', () => reject(asAppError(signal.reason, 'AGENT_002', 'model')), { once: true })
    })
  const pass = async (ms: number) => {
    for (const end = time + ms; time < end; time += 100) {
      await settled()
      const now = due.filter(({ at }) => at <= time + 100)
      due = due.filter((one) => !now.includes(one))
      for (const { work } of now) work()
    }
    await settled()
  }
  return { clock: { now: () => time, after, delay }, pass }
}

function routerOver(endpoint: Partial<Endpoint>, maxInFlight = 8) {
  const { clock, pass } = manualClock()
  const server: Endpoint = {
    name: 'http://a/v1',
    ask: async () => good,
    capabilities: async () => allCapabilities,
    contextTokens: async () => undefined,
    models: async () => ['m'],
    ...endpoint,
  }
  const places = openLocalPlaces().at(server.name, maxInFlight)
  const shared = { places, maxInFlight, clock, random: () => 1 }
  const replica = openReplica({ endpoint: server, offered: openOfferedList(['m']), ...shared })
  const answers = { pass: async () => {} }
  const router = openRouter({ replicas: [replica], answers, retryBudgetMs, clock, random: () => 1 })
  return { router, replica, pass }
}

const never = new AbortController().signal
/** How it ended, without waiting for it. */
function watched<T>(work: Promise<T>) {
  const state: { end?: unknown } = {}
  work.then(
    (value) => (state.end = value),
    (error: unknown) => (state.end = error),
  )
  return state
}

describe('requests over time', () => {
  it('count against a server once each, however often they fail there', async () => {
    const { router, replica, pass } = routerOver({ ask: () => Promise.reject(gone()) })
    const poison = watched(router.complete(modelRequest('m'), never))
    await pass(60_000)
    expect([poison.end, replica.breaker.state()]).toMatchObject([{ code: 'AGENT_002' }, 'closed'])
    for (let other = 0; other < 4; other++) void router.complete(modelRequest('m'), never).catch(() => undefined)
    await pass(1000)
    expect(replica.breaker.state()).toBe('open')
  })

  it('are not sent away while a single one finds out for long whether the server is back', async () => {
    const playing: { answer?: PromiseWithResolvers<typeof good> } = {}
    const { router, replica, pass } = routerOver({ ask: async () => playing.answer?.promise ?? Promise.reject(gone()) })
    for (let failed = 0; failed < 5; failed++) replica.breaker.fail()
    playing.answer = Promise.withResolvers()
    const asked = Array.from({ length: 4 }, () => watched(router.complete(modelRequest('m'), never)))
    await pass(3 * retryBudgetMs)
    expect(replica.breaker.state()).toBe('half_open')
    expect(asked.filter(({ end }) => end !== undefined)).toEqual([])
    playing.answer.resolve(good)
    await pass(100)
    for (const { end } of asked) expect(end).toMatchObject({ content: 'hi' })
  })

  it('do not start again after their budget, though a place comes free', async () => {
    let sent = 0
    const busy = Promise.withResolvers<typeof good>()
    const ask = async ({ prefixKey }: ModelRequest) => {
      sent += 1
      return prefixKey === 'long' ? busy.promise : Promise.reject(gone())
    }
    const { router, pass } = routerOver({ ask }, 1)
    const failing = watched(router.complete(modelRequest('m', 'failing'), never))
    await pass(100)
    void router.complete(modelRequest('m', 'long'), never)
    await pass(retryBudgetMs)
    expect(failing.end).toMatchObject({ code: 'AGENT_002' })
    busy.resolve(good)
    await pass(1000)
    expect(sent).toBe(2)
  })

  it('have their budget from when the server is asked, not from when it is looked into', async () => {
    const known = Promise.withResolvers<typeof allCapabilities>()
    let sent = 0
    const ask = async () => ((sent += 1) === 1 ? Promise.reject(gone()) : good)
    const { router, pass } = routerOver({ ask, capabilities: () => known.promise })
    const asked = watched(router.complete({ ...modelRequest('m'), tools: [tool], toolChoice: 'required' }, never))
    await pass(2 * retryBudgetMs)
    known.resolve(allCapabilities)
    await pass(1000)
    expect(asked.end).toMatchObject({ content: 'hi', tries: 2 })
  })

  it('end at once with the pool, also while they rest', async () => {
    const { router, pass } = routerOver({ ask: () => Promise.reject(gone()) })
    const asked = watched(router.complete(modelRequest('m'), never))
    await pass(100)
    expect(asked.end).toBeUndefined()
    router.close()
    await pass(0)
    expect(asked.end).toMatchObject({ code: 'AGENT_002', message: 'the model pool is closed' })
  })
})

const tool: ModelRequest['tools'][number] = { name: 'do', description: 'Does.', parameters: { type: 'object' } }
