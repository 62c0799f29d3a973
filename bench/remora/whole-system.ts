import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { startLocalRedis } from '#platform/local-redis.ts'
import { startLocalS3 } from '#testing/local-s3.ts'
import { openReleaser } from '#platform/service-process.ts'
import { openPrograms, type Programs } from '../../tests/program.ts'
import { type Services, startServices, type StoreAddress } from '../../tests/services.ts'
import { redisVersion } from '../ledger/bench-ledger.ts'
import { processCpu } from './process-cpu.ts'

/** What runs; scripts are the worker's child processes. */
export const parts = ['api', 'discovery', 'worker', 'scripts', 'redis', 's3', 'rehearsal'] as const
export type CpuByPart = Record<(typeof parts)[number], number>

export type WholeSystem = {
  services: Services
  programs: Programs
  stores: StoreAddress
  redis: Redis
  redisVersion: string
  /** User and system time in ms, since each process started. */
  cpu(): CpuByPart
  close(): Promise<void>
}

/** Redis, the object store, api, discovery, one worker and the rehearsal model (no LLM), each a process of its own, all new. */
export async function startWholeSystem({ slots }: { slots: number }): Promise<WholeSystem> {
  const releaser = openReleaser()
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
  const stores = { redisUrl: server.url, s3 }
  const workerEnv = { REMORA_WORKER_SLOTS: String(slots) }
  const env = { REMORA_LOG_LEVEL: 'warn' }
  const services = await startServices(programs, { ...stores, stop: releaser.release }, { workerEnv, env })
  const own = (name: string) => processCpu(services.named(name).pid)
  return {
    services,
    programs,
    stores,
    redis,
    redisVersion: await redisVersion(redis),
    cpu() {
      const worker = own('worker-1')
      return {
        api: own('api').own,
        discovery: own('discovery').own,
        worker: worker.own,
        scripts: worker.children,
        redis: processCpu(server.pid).own,
        s3: processCpu(s3.pid).own,
        rehearsal: own('rehearsal').own,
      }
    },
    close: releaser.release,
  }
}
