import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { inject } from 'vitest'
import { openS3Client } from '#objects/s3-client.ts'
import { startLocalRedis } from '#platform/local-redis.ts'
import { openLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { openReleaser, type Releaser } from '#platform/service-process.ts'
import { startTestS3, type TestS3 } from '#testing/s3.ts'
import { parseConfig as parseApi } from '../../services/api/api-config.ts'
import { startApi } from '../../services/api/api-service.ts'
import { parseConfig as parseDiscovery } from '../../services/discovery/discovery-config.ts'
import { startDiscovery } from '../../services/discovery/discovery-service.ts'
import { parseConfig as parsePublisher } from '../../services/publisher/publisher-config.ts'
import { startPublisher } from '../../services/publisher/publisher-service.ts'
import { parseConfig as parseRehearsal } from '../../services/rehearsal/rehearsal-config.ts'
import { startRehearsal } from '../../services/rehearsal/rehearsal-server.ts'
import { parseConfig as parseWorker } from '../../services/worker/worker-config.ts'
import { startWorker } from '../../services/worker/worker-service.ts'
import { openRunApi, type RunApi } from '../e2e/run-api.ts'
import { serviceEnvs, type ServicesOptions, type StoreAddress, storeEnv, token } from '../e2e/services.ts'
import { type Answer, remoraHere } from '../remora-here.ts'

type Place = { origin: string; health: string }

export type OneProcess = {
  api: RunApi
  token: string
  stores: StoreAddress
  /** Where a service listens, by its folder's name or the name of the worker. */
  named(name: string): Place
  /** The lines that the services have logged so far. */
  log: readonly string[]
  /** `npx remora …` in a folder, as a client of the API. `printed` grows while it runs. */
  remora(
    folder: { path: string },
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
    printed?: { out: string; err: string },
  ): Promise<Answer>
  /** `remora verify`, which reads the stores. */
  verify(runId: string): Promise<Answer>
  /** Ends the rehearsal model; resolves to what starts it again at the same address. */
  takeModelAway(): Promise<() => Promise<void>>
  close(): Promise<void>
}

/**
 * Every service in this process, each with what its own `parseConfig` makes of the environment that a process of its own would get
 * (`serviceEnvs`), over a Redis and a bucket of their own. It costs a tenth of the processes; what ends, drains, or reads its own
 * environment is tested with those (`startServices`).
 */
export async function startInOneProcess(options: Omit<ServicesOptions, 'checkout'> = {}): Promise<OneProcess> {
  const releaser = openReleaser()
  try {
    return await startAll(options, releaser)
  } catch (error) {
    await releaser.release()
    throw error
  }
}

/**
 * Few threads and processes. With 16 slots and less a worker gives back all the memory that its heap can spare before it composes,
 * which takes seconds of a process that has the heap of a test runner.
 */
const few = {
  REMORA_WORKER_SLOTS: '17',
  REMORA_WORKER_SCRIPT_PROCESSES: '1',
  REMORA_DISCOVERY_THREADS: '1',
  REMORA_LOG_LEVEL: 'warn', // the thread that composes writes its log to stderr
}

async function startAll(options: ServicesOptions, releaser: Releaser): Promise<OneProcess> {
  const { workers = ['worker-1'], publishing } = options
  const stores = { redisUrl: await ownRedis(releaser), s3: await ownBucket(releaser) }
  const log: string[] = []
  const places = new Map<string, Place>()
  const machine = { PATH: process.env['PATH'], ...few }
  const started = <T extends { close(): Promise<void> }>(name: string, service: T, at: (service: T) => Place): T => {
    releaser.add(name, () => service.close())
    places.set(name, at(service))
    return service
  }
  const deps = (service: string, { logging, secrets }: Pick<ReturnType<typeof parseApi>, 'logging' | 'secrets'>) => {
    const redactor = openRedactor(secrets)
    return { log: openLog({ service, ...logging, redactor, write: (line) => void log.push(line) }), redactor }
  }
  const unknown = { rehearsal: 0, api: publishing?.port ?? 0, apiHealth: 0, discovery: 0, publisher: 0, access: 0 }

  const model = await startRehearsal(parseRehearsal(serviceEnvs(stores, options, unknown).rehearsal))
  started('rehearsal', model, ({ origin }) => ({ origin, health: origin }))
  const reached = { ...unknown, rehearsal: Number(new URL(model.origin).port) }
  const ofPublisher = serviceEnvs(stores, options, reached).publisher
  if (ofPublisher !== undefined) {
    const config = parsePublisher({ ...machine, ...ofPublisher })
    const publisher = await startPublisher(config.publisher, deps('publisher', config))
    started('publisher', publisher, ({ healthPort }) => at(healthPort))
    reached.access = publisher.accessPort ?? 0
  }
  const envs = serviceEnvs(stores, options, reached)
  const apiConfig = parseApi({ ...machine, ...envs.api })
  const api = await startApi(apiConfig.api, deps('api', apiConfig))
  started('api', api, ({ url, healthPort }) => ({ origin: url, health: at(healthPort).health }))
  const discoveryConfig = parseDiscovery({ ...machine, ...envs.discovery })
  const discovery = await startDiscovery(discoveryConfig.discovery, deps('discovery', discoveryConfig))
  started('discovery', discovery, ({ healthPort }) => at(healthPort))
  for (const name of workers) {
    const { worker: config, secrets } = parseWorker({ ...machine, ...envs.worker(name, 0) })
    const worker = await startWorker(config, deps('worker', { logging: config.logging, secrets }))
    started(name, worker, ({ healthPort }) => at(healthPort))
  }
  return {
    api: openRunApi({ url: api.url, token }),
    token,
    stores,
    log,
    named(name) {
      const place = places.get(name)
      if (place === undefined) throw new Error(`no service ${name} was started`)
      return place
    },
    remora: (folder, args, env = {}, printed = { out: '', err: '' }) =>
      remoraHere(folder, args, { REMORA_API_URL: api.url, REMORA_TOKEN: token, ...env }, printed),
    verify: (runId) => remoraHere({ path: tmpdir() }, ['verify', runId], storeEnv(stores)),
    async takeModelAway() {
      await model.close()
      return async () => {
        const again = await startRehearsal(parseRehearsal(serviceEnvs(stores, options, reached).rehearsal))
        releaser.add('rehearsal again', again.close)
      }
    },
    close: releaser.release,
  }
}

function at(port: number): Place {
  const origin = `http://127.0.0.1:${port}`
  return { origin, health: origin }
}

async function ownRedis(releaser: Releaser): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-redis-'))
  releaser.add('folder of Redis', () => rm(dir, { recursive: true, force: true }))
  const redis = await startLocalRedis({ env: process.env, dir })
  releaser.add('Redis', redis.stop)
  return redis.url
}

/** A bucket in the S3 that the suite shares, or in one of this file where there is none. */
async function ownBucket(releaser: Releaser): Promise<TestS3> {
  const shared = inject('s3')
  const { s3, stop } = shared === undefined ? await startTestS3() : { s3: shared, stop: async () => {} }
  releaser.add('S3', stop)
  const bucket = `t${randomBytes(8).toString('hex')}`
  const { endpoint, region, accessKeyId, secretAccessKey } = s3
  const client = openS3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey } })
  await client.send(new CreateBucketCommand({ Bucket: bucket })).finally(() => client.destroy())
  return { ...s3, bucket }
}
