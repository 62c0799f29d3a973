import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLedger } from '#store/ledger/ledger.ts'
import { type LocalRedis, startLocalRedis } from '#platform/local-redis.ts'
import { anOutcome, aPlannedOperation, claimReady, executing } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { patientCommands } from './patient-commands.ts'

describe('commands about an attempt, while Redis is full', () => {
  let dir = ''
  let server: LocalRedis
  let redis: Redis
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'remora-full-redis-'))
    server = await startLocalRedis({ env: process.env, dir })
    redis = new Redis(server.url)
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  })

  const fill = () => redis.config('SET', 'maxmemory', '1')
  const empty = () => redis.config('SET', 'maxmemory', '0')

  async function claimed() {
    const ledger = openLedger(redis)
    const runId = await executing(ledger, [aPlannedOperation('one')])
    const [attempt] = await claimReady(ledger, runId)
    if (attempt === undefined) throw new Error('nothing was ready')
    let tries = 0
    const settle: typeof ledger.settle = (...args) => {
      tries += 1
      return ledger.settle(...args)
    }
    return { ledger: { ...ledger, settle }, runId, attempt, tries: () => tries }
  }

  it('are sent until it takes them, and take effect once', async () => {
    const { ledger, runId, attempt, tries } = await claimed()
    const patient = patientCommands(ledger, new AbortController().signal)
    await fill()
    const settling = patient.settle(attempt, 1, { outcome: anOutcome(), events: [] })
    await until(tries, { holds: (count) => count > 1 })
    await empty()
    expect(await settling).toEqual({ kind: 'settled' })
    expect((await ledger.getRun(runId)).counts.succeeded).toBe(1)
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('fail when the worker closes', async () => {
    const { ledger, attempt } = await claimed()
    const closing = new AbortController()
    await fill()
    const settling = patientCommands(ledger, closing.signal).settle(attempt, 1, { outcome: anOutcome(), events: [] })
    closing.abort()
    await expect(settling).rejects.toMatchObject({ code: 'STORE_001' })
    await empty()
  })
})
