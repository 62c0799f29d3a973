import { Hono } from 'hono'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import type { ApiEnv } from '../../services/api/http/api-env.ts'
import { serveApp, type ServedApp } from '../../services/api/http/serve-app.ts'
import { submitRun } from '../../services/api/played-run.fixture.ts'
import { runCommand } from './served-api.fixture.ts'
import { anEvent } from '#testing/an-event.ts'
import { useTestApi } from '../../services/api/use-test-api.fixture.ts'

let served: ServedApp
const asked: { path: string; after: string | undefined }[] = []
const api = useTestApi()
beforeAll(async () => {
  const noted = new Hono<ApiEnv>().use(async ({ req }, next) => {
    asked.push({ path: req.path, after: req.header('last-event-id') ?? req.query('after') })
    await next()
  })
  served = await serveApp(noted.route('/', api.app), { host: '127.0.0.1', port: 0, graceMs: 1_000 })
})
afterAll(() => served.close())

it('waits for the end of the run without reading what was before', async () => {
  const runId = await submitRun(api)
  const { seq } = await api.ledger.getRun(runId)
  const env = { REMORA_API_URL: served.url, REMORA_TOKEN: api.token }
  const ended = runCommand(['cancel', runId, '--reason', 'not wanted'], { env })
  const streams = () => asked.filter(({ path }) => path.endsWith('/events'))
  await until(streams, { holds: ({ length }) => length > 0 })
  await api.ledger.endSlice(runId, 0)
  await api.ledger.move(runId, {
    from: [{ status: 'queued' }],
    to: { status: 'cancelled' },
    command: 'stop',
    events: [anEvent({ event: 'run.cancelled', phase: 'snapshot', origin: { kind: 'discovery', id: 'test' } })],
  })
  expect(await ended).toMatchObject({ out: `${runId}: cancelled, no operation was planned\n`, code: 0 })
  for (const { after } of streams()) expect(Number(after)).toBeGreaterThanOrEqual(seq)
  expect(seq).toBeGreaterThan(0)
})
