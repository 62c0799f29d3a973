import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { startLocalRedis } from '#platform/local-redis.ts'
import type { Releaser } from '#platform/service-process.ts'
import { startLocalS3 } from '#testing/local-s3.ts'
import { freePorts } from '#testing/this-machine.ts'
import { testSigningKey } from '#testing/test-signer.ts'
import { openPrograms } from '../../tests/program.ts'
import { isReady, storeEnv } from '../../tests/services.ts'

export type BenchStores = Awaited<ReturnType<typeof openBenchStores>>

/** Redis and the object store, each a process of its own over a new folder, and what starts services beside them. */
export async function openBenchStores(releaser: Pick<Releaser, 'add'>) {
  const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
  releaser.add('folder', () => rm(dir, { recursive: true, force: true }))
  const server = await startLocalRedis({ env: process.env, dir: join(dir, 'redis') })
  releaser.add('Redis server', server.stop)
  const s3 = await startLocalS3({ dir: join(dir, 's3') })
  releaser.add('S3 server', s3.stop)
  const redis = new Redis(server.url)
  releaser.add('Redis', async () => redis.disconnect())
  const programs = openPrograms()
  releaser.add('services', programs.end)
  return { redisUrl: server.url, s3, redis, programs, pids: { redis: server.pid, s3: s3.pid } }
}

/** The API alone, as in production. `stop` lets it end by itself, as a profile needs. */
export async function startBenchApi(stores: BenchStores, settings: Readonly<Record<string, string>>) {
  const [port = 0, health = 0] = await freePorts(2)
  const ports = { REMORA_API_PORT: String(port), REMORA_API_HEALTH_PORT: String(health) }
  const own = { REMORA_SIGNING_KEY: testSigningKey, REMORA_LOG_LEVEL: 'warn' }
  const env = { ...storeEnv(stores), ...ports, ...own, ...settings }
  const program = stores.programs.start(['scripts/service.mjs', 'api'], { env })
  const origin = `http://127.0.0.1:${port}`
  await isReady({ ...program, name: 'api', origin })
  const stop = async () => {
    program.kill('SIGTERM')
    await program.exited
  }
  return { origin, pid: program.pid, stop }
}
