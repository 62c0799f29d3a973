import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
import { until } from '#testing/until.ts'
import { openModelPool, type ModelPool } from '../../model-pool.ts'
import { modelRequest } from '../model-server.fixture.ts'

const servers: Server[] = []
let pool: ModelPool | undefined
afterEach(async () => {
  await pool?.close()
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

type Listing = 'hang' | 'reset' | { status: number; body: string }
const models = (...ids: string[]): Listing => ({
  status: 200,
  body: JSON.stringify({ data: ids.map((id) => ({ id })) }),
})

/** Servers whose `GET /models` gives these answers in order, the last one for ever. */
async function poolOver(lists: Listing[][], retryBudgetMs = 3000, requestTimeoutMs = 1000) {
  const asked: string[] = []
  const endpoints = await Promise.all(lists.map((answers) => serve(answers, asked)))
  pool = openModelPool({ endpoints, requestTimeoutMs, retryBudgetMs, maxInFlight: 4 })
  return { pool, asked, urls: endpoints.map(({ url }) => url) }
}

async function serve(answers: Listing[], asked: string[]): Promise<{ url: string }> {
  let turn = 0
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    const answer = answers[Math.min(turn++, answers.length - 1)] ?? 'hang'
    if (answer === 'reset') incoming.socket.destroy()
    else if (answer !== 'hang')
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${boundPort(server)}/v1` }
}

const never = new AbortController().signal

describe('the first model', () => {
  it('is asked for again when the servers no longer have it', async () => {
    const gone = { status: 404, body: '' }
    const { pool: opened, asked } = await poolOver([[models('old'), gone, gone, models('new')]])
    expect(await opened.firstModel(never)).toBe('old')
    await expect(opened.complete(modelRequest('old'), never)).rejects.toMatchObject({ code: 'AGENT_002' })
    expect(await opened.firstModel(never)).toBe('new')
    // The request and the probe that shows whether others are answered.
    expect(asked.slice(1, 3)).toEqual(['POST /v1/chat/completions', 'POST /v1/chat/completions'])
  })

  it('is asked for again while no server answers', async () => {
    const loading = { status: 503, body: '' }
    const { pool: opened, asked } = await poolOver([['reset', loading, models('small')]])
    expect(await opened.firstModel(never)).toBe('small')
    expect(asked).toHaveLength(3)
  })

  it("is any server's that has one", async () => {
    const { pool: opened } = await poolOver([['reset'], [models()], [models('small')]])
    expect(await opened.firstModel(never)).toBe('small')
  })

  it.each([
    [
      'refuses the key',
      { status: 401, body: '{"error":"Unauthorized"}' },
      'refuses the key (set REMORA_MODEL_API_KEY): answered 401 "Unauthorized"',
    ],
    ['has none', models(), 'has no models'],
  ])('fails at once with AGENT_002 where the server %s, and says so', async (_what, answer, words) => {
    const { pool: opened, asked, urls } = await poolOver([[answer]], 60_000)
    const message = expect.stringContaining(`${urls[0]}: ${words}`)
    await expect(opened.firstModel(never)).rejects.toMatchObject({ code: 'AGENT_002', message })
    await expect(opened.describe()).rejects.toMatchObject({ code: 'CONFIG_005', message })
    expect(asked.length).toBeLessThanOrEqual(3) // with the probe that judges the model
  })

  it('is no longer waited for once the pool is closed', async () => {
    const { pool: opened, asked } = await poolOver([['reset']], 60_000)
    const waiting = opened.firstModel(never)
    await until(() => asked, { holds: ({ length }) => length > 1 })
    await opened.close()
    await expect(waiting).rejects.toMatchObject({ code: 'AGENT_002', message: 'the model pool is closed' })
  })

  it('is no longer waited for once aborted', async () => {
    const { pool: opened, asked } = await poolOver([['hang']], 60_000, 60_000)
    const abort = new AbortController()
    const waiting = opened.firstModel(abort.signal)
    await until(() => asked, { holds: ({ length }) => length === 1 })
    const reason = new Error('cancelled')
    abort.abort(reason)
    await expect(waiting).rejects.toBe(reason)
  })
})
