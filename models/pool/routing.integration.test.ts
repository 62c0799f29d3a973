import { afterAll, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { openModelPool, type EndpointChoice, type ModelPool, type ModelPoolOptions } from '../model-pool.ts'
import { modelRequest, startModelServer, type Played, type PlayedServer } from './model-server.fixture.ts'

const opened: { close(): unknown }[] = []
afterAll(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

async function server(...given: Parameters<typeof startModelServer>): Promise<PlayedServer> {
  const started = await startModelServer(...given)
  opened.push(started)
  return started
}

function poolOver(endpoints: readonly EndpointChoice[], options: Partial<ModelPoolOptions> = {}): ModelPool {
  const limits = { requestTimeoutMs: 20_000, retryBudgetMs: 10_000, maxInFlight: 8 }
  const pool = openModelPool({ endpoints, ...limits, ...options })
  opened.push(pool)
  return pool
}

const never = new AbortController().signal
const completions = (servers: readonly PlayedServer[]) => servers.map(({ seen }) => seen.completions)

describe('a request for a model', () => {
  it('goes only to servers that offer it, by their own word or the operator’s', async () => {
    const [big, small, named] = [
      await server('good', { models: ['big'] }),
      await server('good', { models: ['small', 'small-lora'] }),
      await server('good', { models: ['big', 'small'] }),
    ]
    const pool = poolOver([big, small, { url: named.url, models: ['other'] }])
    for (let asked = 0; asked < 4; asked++) {
      expect(await pool.complete(modelRequest('big'), never)).toMatchObject({ endpoint: big.url, tries: 1 })
      expect(await pool.complete(modelRequest('small-lora'), never)).toMatchObject({ endpoint: small.url, tries: 1 })
      expect(await pool.complete(modelRequest('other'), never)).toMatchObject({ endpoint: named.url, tries: 1 })
    }
  })

  it('that nobody offers fails with AGENT_002, which says what they do offer', async () => {
    const [one, other] = [await server('good', { models: ['big'] }), await server('good', { models: ['small'] })]
    const asked = poolOver([one, other]).complete(modelRequest('huge'), never)
    const message = `no server offers the model "huge": ${one.url}: big; ${other.url}: small`
    await expect(asked).rejects.toMatchObject({ code: 'AGENT_002', phase: 'model', message })
    expect(completions([one, other])).toEqual([0, 0])
  })

  it('finds the server that has it where servers do not list their models', async () => {
    const [without, having] = [await server(404), await server('good')]
    const pool = poolOver([without, having])
    for (let asked = 0; asked < 6; asked++) {
      expect(await pool.complete(modelRequest('m', `key ${asked}`), never)).toMatchObject({ endpoint: having.url })
    }
    // A request and the probe that shows whether it was for what is in it.
    expect(without.seen.completions).toBeLessThanOrEqual(2)
  })

  it('that all servers were said to have and none has fails, and says what each answered', async () => {
    const servers = [await server(404), await server(404)]
    const pool = poolOver(servers.map(({ url }) => ({ url, models: ['lora'] })))
    await expect(pool.complete(modelRequest('lora'), never)).rejects.toMatchObject({ code: 'AGENT_002' })
    const message = expect.stringMatching(/"lora": .* answered 404 .*; .* answered 404 /)
    await expect(pool.complete(modelRequest('lora'), never)).rejects.toMatchObject({ message })
  })

  it('is refused by a lone server in its words, and with what it offers', async () => {
    const lone = await server(404, { models: ['big', 'small'] })
    const asked = poolOver([lone]).complete(modelRequest('huge'), never)
    await expect(asked).rejects.toThrow(`${lone.url}: answered 404 said 404; it offers big, small`)
  })
})

describe.concurrent('requests', () => {
  it('with one key go to one server, and with many keys to all', async () => {
    const servers = [await server(), await server(), await server()]
    const pool = poolOver(servers)
    const bases = new Map<string, Set<string>>()
    for (let asked = 0; asked < 120; asked++) {
      const key = `bundle ${asked % 40}`
      const { endpoint } = await pool.complete(modelRequest('m', key), never)
      bases.set(key, (bases.get(key) ?? new Set()).add(endpoint))
    }
    expect([...bases.values()].map((endpoints) => endpoints.size)).toEqual(Array.from({ length: 40 }, () => 1))
    expect(completions(servers).filter((count) => count > 0)).toHaveLength(3)
  })

  it.each<Played>([429, 503, 529, 500, 'reset', 'broken'])('that fail with %s go elsewhere', async (fault) => {
    const [bad, good] = [await server(fault), await server()]
    const pool = poolOver([bad, good])
    const asked = Array.from({ length: 8 }, (_, key) => pool.complete(modelRequest('m', `key ${key}`), never))
    for (const reply of await Promise.all(asked)) expect(reply.endpoint).toBe(good.url)
    expect(bad.seen.completions).toBeGreaterThan(0)
    const [status] = pool.status().endpoints
    const isOverload = [429, 503, 529].some((code) => code === fault)
    expect((status?.limit ?? 8) < 8).toBe(isOverload)
  })

  it('fail with the words of every server that failed them', async () => {
    const [one, other] = [await server(500), await server(503)]
    const failed = poolOver([one, other], { retryBudgetMs: 2000 }).complete(modelRequest('m'), never)
    const reason = String(await failed.catch((error: unknown) => error))
    expect(reason).toContain(`${one.url}: answered 500`)
    expect(reason).toContain(`${other.url}: answered 503`)
  })

  it('leave a server alone that fails again and again, and come back to it when it works', async () => {
    const [bad, good] = [await server('reset'), await server()]
    const pool = poolOver([bad, good])
    const breaker = () => pool.status().endpoints[0]?.breaker
    let key = 0
    await until(() => pool.complete(modelRequest('m', `key ${key++}`), never).then(breaker), {
      holds: (state) => state === 'open',
    })
    const failed = bad.seen.completions
    await Promise.all(Array.from({ length: 8 }, () => pool.complete(modelRequest('m', `key ${key++}`), never)))
    expect(bad.seen.completions - failed).toBeLessThanOrEqual(1)
    bad.plays('good')
    await until(() => pool.complete(modelRequest('m', `key ${key++}`), never).then(breaker), {
      holds: (state) => state === 'closed',
    })
  })

  it('wait while no server works, and are answered when one does', async () => {
    const only = await server('reset')
    const pool = poolOver([only])
    const asked = Promise.all(Array.from({ length: 12 }, () => pool.complete(modelRequest('m'), never)))
    await until(() => pool.status(), { holds: ({ endpoints }) => endpoints[0]?.breaker === 'open' })
    only.plays('good')
    expect(await asked).toHaveLength(12)
  })

  it('leave the queue when they are aborted, and the others keep their turn', async () => {
    const only = await server('hang')
    const pool = poolOver([only], { maxInFlight: 1 })
    const [first, second] = [new AbortController(), new AbortController()]
    const hanging = pool.complete(modelRequest('m'), first.signal)
    await until(() => only.seen, { holds: (seen) => seen.completions === 1 })
    const left = pool.complete(modelRequest('m'), second.signal)
    const stays = pool.complete(modelRequest('other'), never)
    await until(() => pool.status(), { holds: ({ waiting }) => waiting === 2 })
    second.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    expect(pool.status().waiting).toBe(1)
    only.plays('good')
    first.abort(new Error('gone'))
    await expect(hanging).rejects.toThrow('gone')
    expect(await stays).toMatchObject({ content: 'hi' })
    await until(() => only.seen, { holds: (seen) => seen.left === 1 })
    expect(only.seen.completions).toBe(2)
  })
})

describe('servers behind one address', () => {
  it('use all their slots, and requests in flight are aborted at once', async () => {
    const gateway = await server('hang')
    const endpoints = ['a', 'b', 'c', 'd'].map((path) => ({
      url: gateway.url.replace('/v1', `/${path}/v1`),
      models: ['m'],
    }))
    const pool = poolOver(endpoints, { maxInFlight: 1 })
    const cancel = new AbortController()
    const asked = endpoints.map((_, key) => pool.complete(modelRequest('m', `key ${key}`), cancel.signal))
    await until(() => gateway.seen, { holds: (seen) => seen.completions === 4 })
    const reason = new Error('cancelled')
    cancel.abort(reason)
    for (const ended of await Promise.allSettled(asked)) expect(ended).toMatchObject({ reason })
  })
})

describe('hedging', () => {
  it('asks a second server when the first does not answer, and closes the request that lost', async () => {
    const [stuck, quick] = [await server('hang'), await server()]
    const pool = poolOver([stuck, quick], { hedgeAfterMs: 20 })
    const asked = Array.from({ length: 8 }, (_, key) => pool.complete(modelRequest('m', `key ${key}`), never))
    const replies = await Promise.all(asked)
    expect(new Set(replies.map((reply) => reply.endpoint))).toEqual(new Set([quick.url]))
    expect(replies.some((reply) => reply.tries === 2)).toBe(true)
    await until(() => stuck.seen, { holds: (seen) => seen.left === seen.completions })
    expect(stuck.seen.completions).toBeGreaterThan(0)
    expect(pool.status().endpoints).toMatchObject([
      { inFlight: 0, breaker: 'closed' },
      { inFlight: 0, breaker: 'closed' },
    ])
  })
})
