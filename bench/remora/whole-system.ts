import type { Redis } from 'ioredis'
import { openReleaser } from '#platform/service-process.ts'
import type { Programs } from '../../tests/program.ts'
import { type Services, startServices, type StoreAddress } from '../../tests/services.ts'
import { redisVersion } from '../ledger/bench-ledger.ts'
import { openBenchStores } from './bench-stores.ts'
import { peakMb, processCpu } from './process-cpu.ts'
import { type CountingProxy, openCountingProxy } from './profile-run.ts'

/** What runs; scripts are the worker's child processes. */
export const parts = ['api', 'discovery', 'worker', 'scripts', 'redis', 's3', 'rehearsal'] as const
export type CpuByPart = Record<(typeof parts)[number], number>

/** Holds what a system has done until a moment, since it started: CPU in ms, and what its stores were asked. */
export type Moment = {
  atMs: number
  cpu: CpuByPart
  /** Calls of Redis' commands, those from inside of scripts among them, and of scripts. */
  redis: { commands: number; scripts: number }
  /** Requests to the object store; 0 where they are not counted. */
  storeRequests: number
}

export type WholeSystem = {
  services: Services
  programs: Programs
  stores: StoreAddress
  redis: Redis
  redisVersion: string
  moment(): Promise<Moment>
  /** The most memory of each process so far, in MB. */
  peaksMb(): [name: string, mb: number][]
  close(): Promise<void>
}

/** Redis, the object store, api, discovery, one worker and the rehearsal model (no LLM), each a process of its own, all new. */
export async function startWholeSystem(options: { slots: number; countsRequests?: boolean }): Promise<WholeSystem> {
  const releaser = openReleaser()
  const { redisUrl, s3, redis, programs, pids } = await openBenchStores(releaser)
  const proxy = options.countsRequests === true ? await openCountingProxy(s3.endpoint) : undefined
  releaser.add('proxy', async () => proxy?.close())
  const stores = { redisUrl, s3: { ...s3, endpoint: proxy?.url ?? s3.endpoint } }
  const workerEnv = { REMORA_WORKER_SLOTS: String(options.slots) }
  const env = { REMORA_LOG_LEVEL: 'warn' }
  const services = await startServices(programs, { ...stores, stop: releaser.release }, { workerEnv, env })
  return {
    services,
    programs,
    stores,
    redis,
    redisVersion: await redisVersion(redis),
    moment: openMoments({ services, redis, pids, proxy }),
    peaksMb() {
      const names = ['api', 'discovery', 'worker-1', 'rehearsal']
      const processes = [...names.map((name) => [name, services.named(name).pid] as const), ...Object.entries(pids)]
      return processes.map(([name, pid]) => [name, peakMb(pid)])
    },
    close: releaser.release,
  }
}

type Watched = {
  services: Services
  redis: Redis
  pids: { redis: number; s3: number }
  proxy: CountingProxy | undefined
}

function openMoments({ services, redis, pids, proxy }: Watched): () => Promise<Moment> {
  const own = (name: string) => processCpu(services.named(name).pid)
  let storeRequests = 0
  return async () => {
    for (const count of proxy?.takeCounts().values() ?? []) storeRequests += count
    const worker = own('worker-1')
    const cpu = {
      api: own('api').own,
      discovery: own('discovery').own,
      worker: worker.own,
      scripts: worker.children,
      redis: processCpu(pids.redis).own,
      s3: processCpu(pids.s3).own,
      rehearsal: own('rehearsal').own,
    }
    return { atMs: performance.now(), cpu, storeRequests, redis: await redisCalls(redis) }
  }
}

/** Calls so far; asking is one. */
export async function redisCalls(redis: Redis): Promise<Moment['redis']> {
  const calls = { commands: 0, scripts: 0 }
  for (const [, name, count] of (await redis.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    calls.commands += Number(count)
    if (name === 'evalsha') calls.scripts += Number(count)
  }
  return calls
}
