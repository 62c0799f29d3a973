import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { openReleaser } from '#platform/service-process.ts'
import { boundPort } from '#platform/http-health.ts'
import { startLocalRedis } from '#platform/local-redis.ts'
import { freePorts } from './this-machine.ts'
import { until } from './until.ts'

const master = 'remora-test'

export type TestSentinel = Awaited<ReturnType<typeof startSentinel>>

/**
 * A master, its replica, and one sentinel that makes the replica a master when the other has been away for a second. Another
 * sentinel, the first of `url`, takes connections and never answers.
 */
export async function startSentinel() {
  const releaser = openReleaser()
  const dir = await mkdtemp(join(tmpdir(), 'remora-sentinel-'))
  releaser.add('folder', () => rm(dir, { recursive: true, force: true }))
  try {
    const [masterPort = 0, replicaPort = 0, port = 0] = await freePorts(3)
    const first = await startLocalRedis({ env: process.env, dir: join(dir, 'first'), port: masterPort })
    releaser.add('first', first.stop)
    const second = await startLocalRedis({ env: process.env, dir: join(dir, 'second'), port: replicaPort })
    releaser.add('second', second.stop)
    await follow(second.url, masterPort)
    const file = join(dir, 'sentinel', 'sentinel.conf')
    await mkdir(join(dir, 'sentinel'))
    await writeFile(file, sentinelSettings(join(dir, 'sentinel'), port, masterPort))
    const sentinel = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
    const gone = once(sentinel, 'exit')
    releaser.add('sentinel', async () => {
      sentinel.kill('SIGKILL')
      await gone
    })
    await until(() => masterPortAt(port), { holds: (answered) => answered === masterPort })
    const mute = createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1')
    await once(mute, 'listening')
    releaser.add('mute sentinel', async () => void mute.close())
    return {
      /** As REMORA_REDIS_URL. */
      url: `redis+sentinel://127.0.0.1:${boundPort(mute)},127.0.0.1:${port}/${master}`,
      /** Kills the master for good; resolves when the replica has taken its place. */
      async failOver() {
        process.kill(first.pid, 'SIGKILL')
        await until(() => masterPortAt(port), { holds: (answered) => answered === replicaPort, withinMs: 30_000 })
      },
      stop: releaser.release,
    }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

function sentinelSettings(dir: string, port: number, masterPort: number): string {
  return [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor ${master} 127.0.0.1 ${masterPort} 1`,
    `sentinel down-after-milliseconds ${master} 1000`,
    `sentinel failover-timeout ${master} 5000`,
    '',
  ].join('\n')
}

async function follow(replicaUrl: string, masterPort: number): Promise<void> {
  const replica = new Redis(replicaUrl)
  try {
    await replica.replicaof('127.0.0.1', masterPort)
    await until(() => replica.info('replication'), { holds: (text) => text.includes('master_link_status:up') })
  } finally {
    replica.disconnect()
  }
}

/** The port of the master that the sentinel names; undefined while it does not answer. */
async function masterPortAt(port: number): Promise<number | undefined> {
  const sentinel = new Redis({ port, host: '127.0.0.1', retryStrategy: () => null, lazyConnect: true })
  sentinel.on('error', () => {})
  try {
    await sentinel.connect()
    const address = await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master)
    return Array.isArray(address) ? Number(address[1]) : undefined
  } catch {
    return undefined
  } finally {
    sentinel.disconnect()
  }
}
