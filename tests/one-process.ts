import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownBucket } from '#store/objects/own-bucket.fixture.ts'
import { startLocalRedis } from '#platform/local-redis.ts'
import { type Logging, openLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { type BegunService, openReleaser, type Releaser, type Service } from '#platform/service-process.ts'
import { api } from '../services/api/api-service.ts'
import { discovery } from '../services/discovery/discovery-service.ts'
import type { PublisherConfig } from '../services/publisher/publisher-config.ts'
import { publisher } from '../services/publisher/publisher-service.ts'
import { noWaiting } from '../services/publisher/test-publisher.fixture.ts'
import { parseConfig as parseRehearsal } from '../services/rehearsal/rehearsal-config.ts'
import { startRehearsal } from '../services/rehearsal/rehearsal-server.ts'
import { worker } from '../services/worker/worker-service.ts'
import { openRunApi, type RunApi } from './run-api.ts'
import { serviceEnvs, type ServicesOptions, type StoreAddress, storeEnv, token } from './services.ts'
import { type Answer, remoraHere } from './remora-here.ts'

type Place = { origin: string; health: string }

export type OneProcessOptions = Omit<ServicesOptions, 'checkout' | 'conductorEnv' | 'watcherEnv'>

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
 * (`serviceEnvs`; only the publisher does not pause between its writes), over a Redis and a bucket of their own. It costs a third of the processes (decision 73); what ends, drains, or reads its own
 * environment is tested with those (`startServices`).
 */
export async function startInOneProcess(options: OneProcessOptions = {}): Promise<OneProcess> {
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
  const bucket = await ownBucket()
  releaser.add('bucket', bucket.stop)
  const stores = { redisUrl: await ownRedis(releaser), s3: bucket.s3 }
  const parts = openParts(releaser)
  const unknown = {
    rehearsal: 0,
    api: publishing?.port ?? 0,
    apiHealth: 0,
    discovery: 0,
    publisher: 0,
    access: 0,
    conductor: 0,
    watcher: 0,
  }
  const model = await startRehearsal(parseRehearsal(serviceEnvs(stores, options, unknown).rehearsal))
  parts.add('rehearsal', model, { origin: model.origin, health: model.origin })
  const ports = { ...unknown, rehearsal: Number(new URL(model.origin).port) }
  ports.access = await addPublisher(parts, serviceEnvs(stores, options, ports).publisher)
  const envs = serviceEnvs(stores, options, ports)
  const url = await addApi(parts, envs.api)
  await add(parts, envs.discovery, discovery)
  for (const name of workers) await add(parts, envs.worker(name, 0), worker, { name })
  return {
    api: openRunApi({ url, token }),
    token,
    stores,
    log: parts.log,
    named: parts.named,
    remora: (folder, args, env = {}, printed = { out: '', err: '' }) =>
      remoraHere(folder, args, { REMORA_API_URL: url, REMORA_TOKEN: token, ...env }, printed),
    verify: (runId) => remoraHere({ path: tmpdir() }, ['verify', runId], storeEnv(stores)),
    async takeModelAway() {
      await model.close()
      return async () => {
        const again = await startRehearsal(parseRehearsal(envs.rehearsal))
        releaser.add('rehearsal again', again.close)
      }
    },
    close: releaser.release,
  }
}

type Parts = ReturnType<typeof openParts>
type Given = Readonly<Record<string, string>>

/** The services that run, and the lines that they log. */
function openParts(releaser: Releaser) {
  const log: string[] = []
  const places = new Map<string, Place>()
  const placeOf = (name: string): Place => {
    const place = places.get(name)
    if (place === undefined) throw new Error(`no service ${name} was started`)
    return place
  }
  return {
    log,
    add(name: string, service: { close(): Promise<void> }, place: Place) {
      releaser.add(name, () => service.close())
      places.set(name, place)
    },
    /** Says that a service listens elsewhere than where it tells its health. */
    listens(name: string, origin: string) {
      places.set(name, { ...placeOf(name), origin })
    },
    named: placeOf,
    depsOf(service: string, { logging, secrets }: { logging: Logging; secrets: readonly string[] }) {
      const redactor = openRedactor(secrets)
      return { log: openLog({ service, ...logging, redactor, write: (line) => void log.push(line) }), redactor }
    },
  }
}

function placeAt(port: number): Place {
  const origin = `http://127.0.0.1:${port}`
  return { origin, health: origin }
}

/** Starts a service in this process, as `name`. */
async function add<Config, Begun extends BegunService>(
  parts: Parts,
  env: Given,
  service: Service<Config, Begun>,
  { name = service.name, over = () => ({}) }: { name?: string; over?: (config: Config) => Partial<Config> } = {},
): Promise<Begun> {
  const { config, logging, secrets } = service.parseConfig({ PATH: process.env['PATH'], ...few, ...env })
  const begun = await service.start({ ...config, ...over(config) }, parts.depsOf(service.name, { logging, secrets }))
  parts.add(name, begun, placeAt(begun.healthPort))
  return begun
}

/** Answers the port at which it gives the right to read code; 0 without one. */
async function addPublisher(parts: Parts, env: Given | undefined): Promise<number> {
  if (env === undefined) return 0
  const over = ({ github }: PublisherConfig) => ({ github: github && { ...github, pace: noWaiting } })
  return (await add(parts, env, publisher, { over })).accessPort ?? 0
}

async function addApi(parts: Parts, env: Given): Promise<string> {
  const { url } = await add(parts, env, api)
  parts.listens('api', url)
  return url
}

async function ownRedis(releaser: Releaser): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-redis-'))
  releaser.add('folder of Redis', () => rm(dir, { recursive: true, force: true }))
  const redis = await startLocalRedis({ env: process.env, dir })
  releaser.add('Redis', redis.stop)
  return redis.url
}
