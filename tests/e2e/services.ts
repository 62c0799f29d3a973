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
  /** Of a publisher and of the API beside it; undefined: there is no publisher. `port`: of the API, by default any free one. */
  publishing?: { publisherEnv: Record<string, string>; apiEnv: Record<string, string>; port?: number }
  /** The root of the code, with a slash at its end; this repository when absent. */
  checkout?: string
}

const token = 'a-token-only-for-the-tests'

/** Every service as a process of its own, configured by the environment alone, and ready. */
export async function startServices(
  programs: Programs,
  stores: Stores,
  {
    workers = ['worker-1'],
    env: common = {},
    workerEnv = {},
    discoveryEnv = {},
    publishing,
    checkout,
  }: ServicesOptions = {},
): Promise<Services> {
  const [freePort, apiHealth, discoveryPort, rehearsalPort, publisherPort, accessPort, ...workerPorts] =
    await freePorts(6 + workers.length)
  const apiPort = publishing?.port ?? freePort
  const access = { REMORA_PUBLISHER_SECRET: 'only-the-tests-use-this-secret' }
  const reached = publishing && { ...access, REMORA_PUBLISHER_URL: `http://127.0.0.1:${accessPort}` }
  const starters = new Map<string, () => Service>()
  const start = (name: string, folder: string, port: number | undefined, env: Record<string, string>): Service => {
    const options = { env: { ...common, ...env }, ...(checkout && { checkout }) }
    const begin = (): Service => ({
      ...programs.start(['scripts/service.mjs', folder], options),
      name,
      origin: `http://127.0.0.1:${port}`,
      health: `http://127.0.0.1:${folder === 'api' ? apiHealth : port}`,
    })
    starters.set(name, begin)
    return begin()
  }
  const store = storeEnv(stores)
  const modelUrl = `http://127.0.0.1:${rehearsalPort}/v1`
  const all = [
    start('rehearsal', 'rehearsal', rehearsalPort, { REMORA_REHEARSAL_PORT: String(rehearsalPort) }),
    start('api', 'api', apiPort, {
      ...store,
      REMORA_TOKEN: token,
      REMORA_SIGNING_KEY: testSigningKey,
      REMORA_API_PORT: String(apiPort),
      REMORA_API_HEALTH_PORT: String(apiHealth),
      ...publishing?.apiEnv,
      ...(reached && { REMORA_PUBLISHER_URL: reached.REMORA_PUBLISHER_URL }),
    }),
    start('discovery', 'discovery', discoveryPort, {
      ...store,
      REMORA_DISCOVERY_HEALTH_PORT: String(discoveryPort),
      ...reached,
      ...discoveryEnv,
    }),
    ...(publishing === undefined
      ? []
      : [
          start('publisher', 'publisher', publisherPort, {
            ...store,
            ...access,
            REMORA_SIGNING_KEY: testSigningKey,
            REMORA_PUBLISHER_PORT: String(accessPort),
            REMORA_PUBLISHER_HEALTH_PORT: String(publisherPort),
            ...publishing.publisherEnv,
          }),
        ]),
    ...workers.map((name, at) => {
      const own = { REMORA_WORKER_ID: name, REMORA_WORKER_HEALTH_PORT: String(workerPorts[at]) }
      return start(name, 'worker', workerPorts[at], { ...store, ...own, REMORA_MODEL_URLS: modelUrl, ...workerEnv })
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
    { holds: ({ status }) => status === 200, withinMs: 60_000 },
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
