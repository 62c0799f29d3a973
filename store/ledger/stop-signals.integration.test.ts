import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testRedis, type TestRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { stopsChannel } from './keys.ts'
import { openStopSignals, type StopSignals } from './stop-signals.ts'
import { silentLog } from '#platform/log.ts'

let server: TestRedis
let redis: Redis
let signals: StopSignals

beforeEach(async () => {
  server = await testRedis()
  redis = new Redis(server.url)
  signals = openStopSignals({ redisUrl: server.url, namespace: server.namespace, log: silentLog })
  await until(() => redis.pubsub('NUMSUB', stopsChannel(server.namespace)), { holds: ([, count]) => count === 1 })
  return async () => {
    await redis.quit()
    await server.close()
  }
})
afterEach(() => signals.close())

const tell = (message: string) => redis.publish(stopsChannel(server.namespace), message)

describe('stop signals', () => {
  it('tell every listener of a run, and no other', async () => {
    const heard: string[] = []
    signals.on('r00000001', () => void heard.push('first'))
    signals.on('r00000001', () => void heard.push('second'))
    signals.on('r00000002', () => void heard.push('other'))
    await tell('r00000001')
    await until(() => heard, { holds: ({ length }) => length >= 2 })
    await tell('r00000002')
    await until(() => heard, { holds: ({ length }) => length >= 3 })
    expect(heard).toEqual(['first', 'second', 'other'])
  })

  it('are not heard by who has stopped listening', async () => {
    const heard: string[] = []
    const listener = () => void heard.push('again')
    const off = signals.on('r00000001', listener)
    signals.on('r00000001', listener)
    off()
    off()
    await tell('r00000001')
    await tell('r00000002')
    signals.on('r00000003', () => void heard.push('last'))
    await tell('r00000003')
    await until(() => heard, { holds: (listeners) => listeners.includes('last') })
    expect(heard).toEqual(['again', 'last'])
  })

  it('go on after a message that names no run, and after the connection was lost', async () => {
    let heard = 0
    signals.on('r00000001', () => (heard += 1))
    await tell('{"run": 1}')
    await tell('')
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await until(async () => {
      await tell('r00000001')
      return heard > 0
    })
    expect(heard).toBeGreaterThan(0)
  })
})
