import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownBucket } from '#store/objects/own-bucket.fixture.ts'
import { startLocalRedis } from '#platform/local-redis.ts'
import { type Logging, openLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { openReleaser, type Releaser } from '#platform/service-process.ts'
import { parseConfig as parseApi } from '../services/api/api-config.ts'
import { startApi } from '../services/api/api-service.ts'
import { parseConfig as parseDiscovery } from '../services/discovery/discovery-config.ts'
import { startDiscovery } from '../services/discovery/discovery-service.ts'
import { parseConfig as parsePublisher } from '../services/publisher/publisher-config.ts'
import { startPublisher } from '../services/publisher/publisher-service.ts'
import { noWaiting } from '../services/publisher/test-publisher.fixture.ts'
import { parseConfig as parseRehearsal } from '../services/rehearsal/rehearsal-config.ts'
import { startRehearsal } from '../services/rehearsal/rehearsal-server.ts'
import { parseConfig as parseWorker } from '../services/worker/worker-config.ts'
import { startWorker } from '../services/worker/worker-service.ts'
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
  await addDiscovery(parts, envs.discovery)
  for (const name of workers) await addWorker(parts, name, envs.worker(name, 0))
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
  return {
    log,
    add(name: string, service: { close(): Promise<void> }, place: Place) {
      releaser.add(name, () => service.close())
      places.set(name, place)
    },
    named(name: string): Place {
      const place = places.get(name)
      if (place === undefined) throw new Error(`no service ${name} was started`)
      return place
    },
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

function withMachine(env: Given) {
  return { PATH: process.env['PATH'], ...few, ...env }
}

/** Answers the port at which it gives the right to read code; 0 without one. */
async function addPublisher(parts: Parts, env: Given | undefined): Promise<number> {
  if (env === undefined) return 0
  const config = parsePublisher(withMachine(env))
  const { github } = config.publisher
  const paced = { ...config.publisher, github: github && { ...github, pace: noWaiting } }
  const publisher = await startPublisher(paced, parts.depsOf('publisher', config))
  parts.add('publisher', publisher, placeAt(publisher.healthPort))
  return publisher.accessPort ?? 0
}

async function addApi(parts: Parts, env: Given): Promise<string> {
  const config = parseApi(withMachine(env))
  const api = await startApi(config.api, parts.depsOf('api', config))
  parts.add('api', api, { ...placeAt(api.healthPort), origin: api.url })
  return api.url
}

async function addDiscovery(parts: Parts, env: Given): Promise<void> {
  const config = parseDiscovery(withMachine(env))
  const discovery = await startDiscovery(config.discovery, parts.depsOf('discovery', config))
  parts.add('discovery', discovery, placeAt(discovery.healthPort))
}

async function addWorker(parts: Parts, name: string, env: Given): Promise<void> {
  const { worker: config, secrets } = parseWorker(withMachine(env))
  const worker = await startWorker(config, parts.depsOf('worker', { logging: config.logging, secrets }))
  parts.add(name, worker, placeAt(worker.healthPort))
}

async function ownRedis(releaser: Releaser): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-redis-'))
  releaser.add('folder of Redis', () => rm(dir, { recursive: true, force: true }))
  const redis = await startLocalRedis({ env: process.env, dir })
  releaser.add('Redis', redis.stop)
  return redis.url
}
