import { startTestS3, type TestS3 } from '#testing/s3.ts'
import { startTestRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { freePorts } from '#testing/this-machine.ts'
import type { Program, Programs } from './program.ts'
import { openRunApi, type RunApi } from './run-api.ts'
import { testSigningKey } from '#testing/test-signer.ts'

export type Stores = { redisUrl: string; s3: TestS3; stop(): Promise<void> }

/** A real Redis and a real S3 for one test file. */
export async function startStores(): Promise<Stores> {
  const redis = await startTestRedis()
  const s3 = await startTestS3().catch(async (error: unknown) => {
    await redis.stop()
    throw error
  })
  return {
    redisUrl: redis.url,
    s3: s3.s3,
    async stop() {
      await s3.stop()
      await redis.stop()
    },
  }
}

/** `health`: where it says how it is, and shows its metrics. */
export type Service = Program & { name: string; origin: string; health?: string }
export type Services = {
  all: readonly Service[]
  named(name: string): Service
  startAgain(name: string): Promise<Service>
  api: RunApi
  token: string
}

export type ServicesOptions = {
  workers?: string[]
  /** For every service. */
  env?: Record<string, string>
  workerEnv?: Record<string, string>
  discoveryEnv?: Record<string, string>
  /** Of the conductor; undefined: there is none, and runs name their agents. */
  conductorEnv?: Record<string, string>
  /** Of the watcher; undefined: there is none. */
  watcherEnv?: Record<string, string>
  /** Of a publisher and of the API beside it; undefined: there is no publisher. `port`: of the API, by default any free one. */
  publishing?: { publisherEnv: Record<string, string>; apiEnv: Record<string, string>; port?: number }
  /** The root of the code, with a slash at its end; this repository when absent. */
  checkout?: string
}

export const token = 'a-token-only-for-the-tests'

/** Each service has its port here, by its folder; one that is not known yet is 0. At `access` the publisher gives the right to read code. */
type Ports = Record<
  'rehearsal' | 'api' | 'apiHealth' | 'discovery' | 'publisher' | 'access' | 'conductor' | 'watcher',
  number
>

/** What each service reads, however it is started: the address of the API, say, is the same for a process and for a part of one. */
export function serviceEnvs(stores: StoreAddress, options: ServicesOptions, ports: Ports) {
  const { env: common = {}, workerEnv = {}, discoveryEnv = {}, conductorEnv, watcherEnv, publishing } = options
  const store = { ...common, ...storeEnv(stores) }
  const access = { REMORA_PUBLISHER_SECRET: 'only-the-tests-use-this-secret' }
  const url = { REMORA_PUBLISHER_URL: `http://127.0.0.1:${ports.access}` }
  const models = { REMORA_MODEL_URLS: `http://127.0.0.1:${ports.rehearsal}/v1` }
  return {
    rehearsal: { ...common, REMORA_REHEARSAL_PORT: String(ports.rehearsal) },
    api: {
      ...store,
      REMORA_TOKEN: token,
      REMORA_SIGNING_KEY: testSigningKey,
      REMORA_API_PORT: String(ports.api),
      REMORA_API_HEALTH_PORT: String(ports.apiHealth),
      ...publishing?.apiEnv,
      ...(publishing && url),
    },
    discovery: {
      ...store,
      REMORA_DISCOVERY_HEALTH_PORT: String(ports.discovery),
      ...(publishing && { ...access, ...url }),
      ...discoveryEnv,
    },
    publisher: publishing && {
      ...store,
      ...access,
      REMORA_SIGNING_KEY: testSigningKey,
      REMORA_PUBLISHER_PORT: String(ports.access),
      REMORA_PUBLISHER_HEALTH_PORT: String(ports.publisher),
      ...publishing.publisherEnv,
    },
    worker: (name: string, port: number) => ({
      ...store,
      REMORA_WORKER_ID: name,
      REMORA_WORKER_HEALTH_PORT: String(port),
      ...models,
      ...workerEnv,
    }),
    watcher: watcherEnv && {
      ...store,
      REMORA_WATCHER_HEALTH_PORT: String(ports.watcher),
      ...models,
      ...watcherEnv,
    },
    conductor: conductorEnv && {
      ...store,
      REMORA_CONDUCTOR_HEALTH_PORT: String(ports.conductor),
      ...models,
      ...conductorEnv,
    },
  }
}

/** Every service as a process of its own, configured by the environment alone, and ready. */
export async function startServices(
  programs: Programs,
  stores: Stores,
  options: ServicesOptions = {},
): Promise<Services> {
  const { workers = ['worker-1'], publishing, checkout } = options
  const [
    freePort = 0,
    apiHealth = 0,
    discovery = 0,
    rehearsal = 0,
    publisher = 0,
    access = 0,
    conductor = 0,
    watcher = 0,
    ...workerPorts
  ] = await freePorts(8 + workers.length)
  const api = publishing?.port ?? freePort
  const envs = serviceEnvs(stores, options, {
    rehearsal,
    api,
    apiHealth,
    discovery,
    publisher,
    access,
    conductor,
    watcher,
  })
  const starters = new Map<string, () => Service>()
  const start = (name: string, folder: string, port: number, env: Record<string, string>): Service => {
    const begin = (): Service => ({
      ...programs.start(['scripts/service.mjs', folder], { env, ...(checkout && { checkout }) }),
      name,
      origin: `http://127.0.0.1:${port}`,
      health: `http://127.0.0.1:${folder === 'api' ? apiHealth : port}`,
    })
    starters.set(name, begin)
    return begin()
  }
  const all = [
    start('rehearsal', 'rehearsal', rehearsal, envs.rehearsal),
    start('api', 'api', api, envs.api),
    start('discovery', 'discovery', discovery, envs.discovery),
    ...(envs.publisher === undefined ? [] : [start('publisher', 'publisher', publisher, envs.publisher)]),
    ...(envs.conductor === undefined ? [] : [start('conductor', 'conductor', conductor, envs.conductor)]),
    ...(envs.watcher === undefined ? [] : [start('watcher', 'watcher', watcher, envs.watcher)]),
    ...workers.map((name, at) => {
      const port = workerPorts[at] ?? 0
      return start(name, 'worker', port, envs.worker(name, port))
    }),
  ]
  await Promise.all(all.map(isReady))
  const named = (name: string): Service => {
    const service = all.find((one) => one.name === name)
    if (service === undefined) throw new Error(`no service ${name} was started`)
    return service
  }
  /** One that has ended, with the same settings. */
  const startAgain = async (name: string): Promise<Service> => {
    const service = starters.get(name)?.()
    if (service === undefined) throw new Error(`no service ${name} was started`)
    await isReady(service)
    return service
  }
  return { all, named, startAgain, token, api: openRunApi({ url: named('api').origin, token }) }
}

/** Waits until the service is ready; throws with its standard error when it ends instead. */
export async function isReady(service: Service): Promise<void> {
  await until(
    async () => {
      if (!service.running()) throw new Error(`${service.name} ended: ${service.err().slice(-2000)}`)
      const answer = await fetch(`${service.origin}/readyz`).catch(() => undefined)
      return { status: answer?.status, readiness: await answer?.text() }
    },
    { holds: ({ status }) => status === 200, withinMs: 110_000 },
  )
}

/** How to reach the two stores; `bucket` and the keys are those of the S3 server. */
export type StoreAddress = {
  redisUrl: string
  s3: { endpoint: string; bucket: string; region: string; accessKeyId: string; secretAccessKey: string }
}

/** What every service reads to reach its stores. */
export function storeEnv({ redisUrl, s3 }: StoreAddress): Record<string, string> {
  return {
    REMORA_REDIS_URL: redisUrl,
    REMORA_S3_ENDPOINT: s3.endpoint,
    REMORA_S3_BUCKET: s3.bucket,
    REMORA_S3_REGION: s3.region,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  }
}
