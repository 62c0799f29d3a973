import { expect, it } from 'vitest'
import { announceWorker } from '#store/ledger/live-workers.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
const { remora } = served

it('lists the workers that live with what they take, what they can reach and what is away', async () => {
  expect((await remora('workers')).out).toBe('no worker lives\n')
  const away = { model: 'default', isWorking: false, awaySince: Date.UTC(2026, 0, 2, 3, 4, 5), servers: [] }
  const servers = [
    { url: 'http://a.test/v1', most: 64, limit: 16, inFlight: 2, breaker: 'closed' },
    { url: 'http://b.test/v1', most: 64, limit: 0, inFlight: 0, breaker: 'open' },
  ]
  const self = { version: '1.2.3', startedAt: Date.UTC(2026, 0, 1) }
  const pool = { waiting: 3, servers }
  await announceWorker(
    served.api.redis,
    { id: 'w1', operations: 0, models: [away], pool, store: { state: 'full', message: 'no room' }, ...self },
    served.api.namespace,
  )
  await announceWorker(
    served.api.redis,
    { id: 'w2', operations: 8, models: [], version: '0.1.0', startedAt: 1_000 },
    served.api.namespace,
  )
  const { out } = await remora('workers')
  expect(out.split('\n')).toEqual([
    'w1  takes nothing now  3 requests waiting for a server  version 1.2.3  since 2026-01-01 00:00',
    '  object store full: no room',
    '  model default: away since 2026-01-02 03:04',
    '  http://a.test/v1: 16 of 64 requests at once',
    '  http://b.test/v1: gets no requests: it failed several times in a row, or is silent',
    'w2  takes 8 operations  version 0.1.0  since 1970-01-01 00:00',
    '',
  ])
  const { workers } = JSON.parse((await remora('workers', '--json')).out)
  expect(workers).toMatchObject([
    { worker_id: 'w1', slots: 0, version: '1.2.3' },
    { worker_id: 'w2', slots: 8, version: '0.1.0', started_at: '1970-01-01T00:00:01.000Z' },
  ])
})
