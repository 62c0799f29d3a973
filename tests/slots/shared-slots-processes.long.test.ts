import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startLocalRedis } from '#platform/local-redis.ts'
import { testRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { countingServer, startAsking, type AskingProcess, type CountingServer } from './asking-processes.fixture.ts'

describe('slots that processes share', () => {
  let server: CountingServer
  let asking: AskingProcess[]
  const closing: (() => Promise<void>)[] = []
  beforeEach(async () => {
    server = await countingServer(20)
    asking = []
  })
  afterEach(async () => {
    await Promise.all(asking.map((one) => one.stop()))
    await server.close()
    for (const close of closing.splice(0).toReversed()) await close()
  })

  /** Processes that each want more than all slots. */
  function start(count: number, redisUrl: string, leaseMs: number): void {
    const namespace = `t${randomBytes(6).toString('hex')}`
    const options = { url: server.url, redisUrl, namespace, maxInFlightOfAll: 4, leaseMs, atOnce: 8 }
    asking = Array.from({ length: count }, (_, at) => startAsking(`p${at}`, options))
  }
  const served = () => asking.map(({ holder }) => server.served(holder))
  const untilEachServed = (least: number) => until(served, { holds: (counts) => Math.min(...counts) >= least })

  it('are used by the others when one is killed that held some, after its lease, and never above their number', async () => {
    const redis = await testRedis()
    closing.push(redis.close)
    start(3, redis.url, 2000)
    await untilEachServed(5)
    const [dead, ...others] = asking
    await until(() => server.now(dead?.holder), { holds: (count) => count > 0 })
    await dead?.kill()
    expect(server.most()).toBe(4)
    asking = others
    server.forget()
    await until(() => others.reduce((sum, { holder }) => sum + server.now(holder), 0), { holds: (sum) => sum === 4 })
    await untilEachServed(20)
    expect(server.most()).toBe(4)
  })

  it.each([
    { what: 'with its data', loses: false },
    { what: 'without', loses: true },
  ])('are not multiplied and nobody stalls while Redis comes back $what', async ({ loses }) => {
    const dir = await mkdtemp(join(tmpdir(), 'remora-redis-'))
    closing.push(() => rm(dir, { recursive: true, force: true }))
    const redis = await startLocalRedis({ env: process.env, dir })
    start(3, redis.url, 6000)
    await untilEachServed(5)
    // Each process holds some: while Redis is down, a process without a slot takes one anyway.
    await until(() => asking.map(({ holder }) => server.now(holder)), {
      holds: (counts) => counts.every((count) => count > 0),
    })
    await redis.stop()
    if (loses) await rm(dir, { recursive: true })
    const again = await startLocalRedis({ env: process.env, dir, port: Number(new URL(redis.url).port) })
    closing.push(again.stop)
    server.forget()
    await untilEachServed(60)
    // After Redis lost its data, no more slots are granted for half a lease: a slot may have been released before.
    await until(() => server.now(), { holds: (count) => count === 4 })
    expect(server.most()).toBe(4)
  })
})
