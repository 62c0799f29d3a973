import { randomBytes } from 'node:crypto'
import type { ModelKind } from '#domain/model-kind.ts'
import { after } from '#platform/clock.ts'
import { type Env, givenValue } from '#platform/env.ts'
import type { Logging } from '#platform/log.ts'
import { type BegunService, openReleaser, type Service } from '#platform/service-process.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { type ModelAccess, modelEnv, serviceEnv, servicesEnv, storeEnv, workerEnv } from './stack-env.ts'
import { keptSigningKey, lockStack, publishAccess, type StackLock } from './running-stack.ts'
import { startStores, type StoresOptions } from './stack-stores.ts'
import { openStackLog, type StackLog } from './stack-log.ts'
import { type RestartPauses, startWorkerPool, type WorkerPool } from './worker-pool.ts'
import { api } from '../../services/api/api-service.ts'
import { parseBehaviour } from '../../services/rehearsal/rehearsal-config.ts'
import { startRehearsal } from '../../services/rehearsal/rehearsal-server.ts'

export type StackOptions = StoresOptions & {
  /** Worker processes; 0 starts neither workers nor a model, enough to end runs. */
  workers: number
  /** There are only a few files: few threads, and the worker in this process, since one of its own takes a second of CPU to start. */
  isSmall?: boolean | undefined
  /** No operation is expected: the worker, which ends the run, is in this process. */
  isDry?: boolean | undefined
  /** The path of bubblewrap for workers that run programs; undefined where they find it themselves, or there is none. */
  bubblewrap?(): Promise<string | undefined>
  /** The folders of the machine that setups may read; undefined: those in the environment. */
  setupPaths?: string | undefined
  /** The port of the API; 0: any free one. */
  port: number
  model: ModelAccess
  /** The API's token; a random one when undefined. */
  token: string | undefined
  logging: Logging
  logPath: string | undefined
  say(line: string): void
  restartPauses?: RestartPauses
}

/** `healthPort`: of those that serve metrics; of a worker from when it has come up. */
export type StackProcess = { service: string; pid: number; healthPort: number | undefined }

type Served = Pick<StackProcess, 'service' | 'healthPort'>

export type Stack = {
  url: string
  token: string
  redisUrl: string
  /** Names the folder of the objects. */
  objectsUrl: string
  modelKind: ModelKind | undefined
  /** The processes alive now; the services inside this one carry its own id. */
  processes(): StackProcess[]
  /** Resolves when each worker has come up, or has died for the first time. */
  begun: Promise<unknown>
  /** Aborted, with an AppError that names the part, when a part ended by itself that is not started again. */
  failed: AbortSignal
  /** Ends everything, last started first; at most about 10 s. May be called twice. */
  stop(): Promise<void>
}

/**
 * Starts the whole service on one machine: Redis and workers as processes, API, discovery, conductor and the rehearsal model in this
 * one. Stops what was started when a part does not start: CONFIG_006 when Redis is missing, another stack has the
 * folder or the port is taken; CONFIG_003 when the folder cannot be written.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const releaser = openReleaser()
  try {
    const lock = await lockStack(options.dataDir, { env: options.environment })
    releaser.add('lock', lock.release)
    return await startParts(options, lock, releaser)
  } catch (error) {
    await releaser.release().catch(() => {}) // the first failure is the one to report
    options.signal.throwIfAborted()
    throw error
  }
}

type Releaser = ReturnType<typeof openReleaser>

/** Each thread that parses or lints takes a third of a second of CPU to start. */
const forFewFiles = { REMORA_DISCOVERY_THREADS: '1' }

async function startParts(options: StackOptions, lock: StackLock, releaser: Releaser): Promise<Stack> {
  const token = options.token ?? randomBytes(24).toString('base64url')
  const password = randomBytes(24).toString('hex')
  const signingKey = await keptSigningKey(options.dataDir)
  const secrets = [token, password, signingKey, options.model.apiKey].filter((secret) => secret !== undefined)
  const { logPath: path, logging, workers: count } = options
  const log = await openStackLog({ path, append: count === 0, ...logging, redactor: openRedactor(secrets) })
  releaser.add('log', log.close)
  const loaded = import('../../services/discovery/discovery-service.ts')
  loaded.catch(() => {}) // it is awaited below
  const { redis, objectsUrl } = await startStores(options, { password, lock, releaser })
  options.signal.throwIfAborted()
  const stores = storeEnv(redis.url, objectsUrl, logging.level)
  const environment = options.environment ?? {}
  const answering: ModelKind = options.model.urls === undefined ? 'rehearsal' : 'servers'
  const modelKind = count === 0 ? undefined : answering
  const served: Served[] = []
  const inThis = { modelKind, secrets, signingKey, log, releaser, served }
  const publisher = count === 0 ? {} : await startPublishing(stores, environment, inThis)
  const own = options.isSmall === true ? { ...forFewFiles, ...environment } : environment
  const env = servicesEnv(stores, { token, signingKey, port: options.port, environment: own, publisher })
  const { url } = await startHere(api, env, inThis, { modelKind })
  const { discovery } = await loaded
  await startHere(discovery, env, inThis, { isAlone: true, modelKind })
  options.signal.throwIfAborted()
  // After discovery, which takes operations back from workers of an earlier stack. Workers also stop first, while discovery runs.
  const workers = count === 0 ? undefined : await startWorkers(options, stores, inThis)
  const access = { url, token, redisUrl: redis.url, objectsUrl, modelKind }
  if (count > 0) releaser.add('access', await publishAccess(options.dataDir, access))
  const failure = new AbortController()
  for (const part of [redis, workers]) part?.failed.catch((error: unknown) => failure.abort(error))
  let stopping: Promise<void> | undefined
  return {
    ...access,
    processes: () => [
      { service: 'redis', pid: redis.pid, healthPort: undefined },
      ...served.map((service) => ({ ...service, pid: process.pid })),
      ...(workers?.workers() ?? []).map((worker) => ({ service: 'worker', ...worker })),
    ],
    begun: workers?.begun ?? Promise.resolve(),
    failed: failure.signal,
    stop: () => (stopping ??= releaser.release()),
  }
}

/** The services inside this process share it; `served` are those that run. */
type InThisProcess = {
  modelKind: ModelKind | undefined
  secrets: readonly string[]
  signingKey: string
  log: StackLog
  releaser: Releaser
  served: Served[]
}

/** Starts a service in this process. */
async function startHere<Config, Begun extends BegunService>(
  { name, parseConfig, start }: Service<Config, Begun>,
  env: Env,
  { log, secrets, releaser, served }: InThisProcess,
  over: Partial<Config> = {},
): Promise<Begun> {
  const { config, secrets: own } = parseConfig(env)
  const redactor = openRedactor([...own, ...secrets])
  const begun = await start({ ...config, ...over }, { log: log.entry, writeLog: log.write, redactor })
  releaser.add(name, begun.close)
  served.push({ service: name, healthPort: begun.healthPort })
  return begun
}

async function startWorkers(
  options: StackOptions,
  stores: Env,
  inThis: InThisProcess,
): Promise<WorkerPool | undefined> {
  const { releaser, log } = inThis
  const { workers: count, model, environment = {}, say, restartPauses: pauses } = options
  const modelUrls = model.urls ?? (await rehearsalUrl(environment, releaser))
  const bubblewrap = await options.bubblewrap?.()
  const inSandbox = bubblewrap === undefined ? {} : { REMORA_SANDBOX_BUBBLEWRAP: bubblewrap }
  const asking = { modelUrls, model, environment }
  const { conductor } = await import('../../services/conductor/conductor-service.ts')
  await startHere(conductor, serviceEnv('conductor', stores, environment, modelEnv(asking)), inThis)
  // Each setup runs in a process of its own. Whether runs may have any, api and discovery decide.
  const { setup } = await import('../../services/setup/setup-service.ts')
  const ofSetups = { ...environment, REMORA_SANDBOX_PATHS: options.setupPaths ?? environment['REMORA_SANDBOX_PATHS'] }
  await startHere(setup, serviceEnv('setup', stores, ofSetups, inSandbox), inThis)
  const env = workerEnv(stores, { ...asking, own: inSandbox })
  const watching = async () => {
    const { watcher } = await import('../../services/watcher/watcher-service.ts')
    await startHere(watcher, serviceEnv('watcher', stores, environment, modelEnv(asking)), inThis)
  }
  if (options.isSmall === true || options.isDry === true) {
    const { worker } = await import('../../services/worker/worker-service.ts')
    await startHere(worker, env, inThis)
    return startLater(watching, inThis)
  }
  await watching()
  const workers = startWorkerPool({ count, env, log, say, pauses })
  releaser.add('workers', workers.stop)
  return workers
}

/** Nearly all runs of a few files, and dry ones, are over by then. */
const watchAfterMs = 30_000

/** Does not let a short run pay for the start of the watcher, which looks at all events of a longer one when it comes. */
function startLater(start: () => Promise<void>, { log, releaser }: InThisProcess): undefined {
  let started: Promise<void> | undefined
  const cancel = after(watchAfterMs, () => {
    started = start().catch((error: unknown) => log.entry.warn('runs are not watched', { error }))
  })
  releaser.add('start of the watcher', async () => {
    cancel()
    await started
  })
}

/** Publishes to the code host, where a GitHub App is named; returns what the other services must know to reach it. */
async function startPublishing(stores: Env, environment: Env, inThis: InThisProcess): Promise<Env> {
  if (givenValue(environment, 'REMORA_GITHUB_APP_ID') === undefined) return {}
  const { publisher } = await import('../../services/publisher/publisher-service.ts')
  const REMORA_PUBLISHER_SECRET = randomBytes(24).toString('base64url')
  const { signingKey: REMORA_SIGNING_KEY, modelKind } = inThis
  const own = { REMORA_PUBLISHER_SECRET, REMORA_SIGNING_KEY, REMORA_PUBLISHER_PORT: '0' }
  const { accessPort } = await startHere(publisher, serviceEnv('publisher', stores, environment, own), inThis, {
    modelKind,
  })
  return accessPort === undefined
    ? {}
    : { REMORA_PUBLISHER_URL: `http://127.0.0.1:${accessPort}`, REMORA_PUBLISHER_SECRET }
}

async function rehearsalUrl(environment: Env, releaser: Releaser): Promise<string> {
  const { url, close } = await startRehearsal({ ...parseBehaviour(environment), host: '127.0.0.1', port: 0 })
  releaser.add('rehearsal', close)
  return url
}
