import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openLedger } from '#store/ledger/ledger.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { anEvent } from '#testing/open-test-ledger.ts'
import { plantedSecrets } from '#testing/planted-secrets.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { openTestApi } from './app.fixture.ts'
import { submitRun } from './played-run.fixture.ts'
import { useTestApi } from './use-test-api.fixture.ts'

const api = useTestApi()

describe('the API', () => {
  it('says without a token that it lives and that its stores answer', async () => {
    expect((await api.askAs('none', '/healthz')).status).toBe(200)
    const usable = { state: 'ok', message: 'it answers' }
    const ready = await (await api.askAs('none', '/readyz')).json()
    const models = { state: 'ok', message: 'no run waits for a model' }
    expect(ready).toEqual({ status: 'ready', parts: { redis: usable, object_store: usable, models } })
  })

  it.for(['/v1/runs', '/v1/runs/r0123456789', '/v1/runs/r0123456789/patch', '/v1/nothing', '/v1/'])(
    'keeps %s behind the token',
    async (path) => {
      const answer = await api.askAs('none', path)
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({ error_code: 'AUTH_001' })
    },
  )

  it('does not take an upload in without a token', async () => {
    const answer = await api.askAs('none', '/v1/runs', { method: 'POST', body: new FormData() })
    expect(answer.status).toBe(401)
    expect(api.jobs).toEqual([])
  })

  it('says that a store is away, and which, and that it does not know what only that store tells', async () => {
    const lines: string[] = []
    const writeLog = (line: string) => void lines.push(line)
    const away = await openTestApi(await testRedis(), await testObjects(), { writeLog })
    await away.close()
    const ready = await away.askAs('none', '/readyz')
    expect(ready.status).toBe(503)
    const redis = { state: 'away', message: 'it cannot be reached' }
    expect(await ready.json()).toMatchObject({ status: 'not ready', parts: { redis, models: { state: 'unknown' } } })
    expect((await away.askAs('none', '/healthz')).status).toBe(200)
    const answer = await away.ask('/v1/runs')
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).not.toBeNull()
    expect(await answer.json()).toMatchObject({ error_code: 'STORE_001' })
    for (const path of ['/v1/runs', '/v1/runs/r1', '/v1/runs']) await away.ask(path)
    const levels = lines.map((line) => z.object({ level: z.string() }).parse(JSON.parse(line)).level)
    expect(levels.filter((level) => level === 'warn' || level === 'error')).toEqual(['warn'])
  })
})

describe('the answers of the API', () => {
  const configured = 'secret-of-the-configuration'
  const [{ value } = { value: '' }] = plantedSecrets

  it('hide secrets of the configuration, also in a problem, and secrets that whoever stored an event did not know', async () => {
    const server = await testRedis()
    const own = await openTestApi(server, await testObjects(), { secrets: [configured] })
    const redis = new Redis(server.url)
    const asBefore: Redactor = {
      given: [],
      text: (text) => text,
      value: (one) => one,
      record: (one) => one,
      json: (text) => text,
    }
    const before = openLedger(redis, { namespace: server.namespace, redactor: asBefore })
    const runId = await submitRun(own)
    const data = { reason: `token = "${value}", ${configured}` }
    const event = anEvent({ event: 'run.failed', phase: 'snapshot', data })
    const from = [{ status: 'queued' as const }]
    await before.move(runId, {
      from,
      to: { status: 'failed' },
      command: 'end',
      set: { reason: data.reason },
      events: [event],
    })

    const asked: [path: string, accept: string][] = [
      [`/v1/runs/${runId}`, 'application/json'],
      [`/v1/runs/${runId}/events`, 'application/json'],
      [`/v1/runs/${runId}/events`, 'text/event-stream'],
      [`/v1/runs/${runId}/operations/${configured}`, 'application/json'],
    ]
    for (const [path, accept] of asked) {
      const answer = await own.ask(path, { headers: { accept } })
      const text = await answer.text()
      expect(text, path).toContain('[secret]')
      expect(text, path).not.toContain(value)
      expect(text, path).not.toContain(configured)
      expect(answer.headers.get('content-type'), path).toMatch(/json|event-stream/)
      expect(answer.headers.get('x-content-type-options'), path).toBe('nosniff')
    }
    await redis.quit()
    await own.close()
  })
})
