import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { recordedLog } from '#testing/recorded-log.ts'
import { until } from '#testing/until.ts'
import { Problem } from '#schemas/problem-schema.ts'
import type { ApiEnv } from './api-env.ts'
import { openSocket } from './raw-request.fixture.ts'
import { serveApp } from './serve-app.ts'

const local = { host: '127.0.0.1', port: 0 }

describe('serveApp', () => {
  it('lets a request finish that was open when it was told to stop', async () => {
    const gate = Promise.withResolvers<string>()
    const seen = { requests: 0 }
    const app = new Hono<ApiEnv>().get('/', async (c) => {
      seen.requests += 1
      return c.text(await gate.promise)
    })
    const served = await serveApp(app, { ...local, graceMs: 10_000 })
    const answer = fetch(served.url)
    await until(() => seen, { holds: ({ requests }) => requests === 1 })
    const closing = served.close()
    gate.resolve('done')
    expect(await (await answer).text()).toBe('done')
    await closing
    await expect(fetch(served.url)).rejects.toThrow('fetch failed')
  })

  it('waits for no further request of a connection that is kept alive when it was told to stop', async () => {
    const gate = Promise.withResolvers<string>()
    const seen = { requests: 0 }
    const app = new Hono<ApiEnv>().get('/', async (c) => {
      seen.requests += 1
      return c.text(await gate.promise)
    })
    const hourMs = 3_600_000
    const served = await serveApp(app, { ...local, graceMs: hourMs, limits: { keepAliveMs: hourMs, idleMs: hourMs } })
    const socket = openSocket(served.url)
    socket.resume().write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await until(() => seen, { holds: ({ requests }) => requests === 1 })
    const closing = served.close()
    gate.resolve('done')
    await expect(closing).resolves.toBeUndefined()
    await until(() => socket.closed)
  })

  it('answers and logs a fault that no route has answered, under one id', async () => {
    const { log, lines } = recordedLog({ level: 'info' })
    const app = new Hono<ApiEnv>().get('/', () => {
      throw new Error('of ours')
    })
    app.onError((error) => {
      throw error
    })
    const served = await serveApp(app, { ...local, graceMs: 50, log })
    const answer = await fetch(served.url)
    const id = answer.headers.get('x-request-id')
    const problem = Problem.parse(await answer.json())
    expect(problem).toMatchObject({
      status: 500,
      error_code: 'HTTP_007',
      detail: expect.stringContaining(`request ${id}`),
    })
    expect(JSON.stringify(problem)).not.toContain('of ours')
    expect(lines.filter((line) => line.includes(`${id}`) && line.includes('of ours'))).toHaveLength(1)
    await served.close()
  })

  it('cuts off what does not finish in its grace', async () => {
    const seen = { requests: 0, aborted: 0 }
    const app = new Hono<ApiEnv>().get('/', async (c) => {
      seen.requests += 1
      c.req.raw.signal.addEventListener('abort', () => (seen.aborted += 1))
      await new Promise(() => {})
      return c.text('never')
    })
    const served = await serveApp(app, { ...local, graceMs: 50 })
    const answer = fetch(served.url).then(
      () => 'answered',
      () => 'cut off',
    )
    await until(() => seen, { holds: ({ requests }) => requests === 1 })
    await served.close()
    expect(await answer).toBe('cut off')
    await until(() => seen, { holds: ({ aborted }) => aborted === 1 })
  })
})
