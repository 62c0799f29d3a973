import { randomBytes } from 'node:crypto'
import { getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import type { ModelKind } from '#domain/model-kind.ts'
import { type LocalS3, startLocalS3 } from '#platform/local-s3.ts'
import type { Env } from '#platform/env.ts'
import type { Log, LogLevel } from '#platform/log.ts'
import { openReleaser } from '#platform/service-process.ts'
import { type GuardedRedis, startGuardedRedis } from './guarded-redis.ts'
import { startRehearsalModel } from './rehearsal-model.ts'
import { type ModelAccess, servicesEnv, storeEnv, workerEnv } from './stack-env.ts'
import { lockStack, publishAccess, type StackLock } from './running-stack.ts'
import { openStackLog, type StackLog } from './stack-log.ts'
import { type RestartPauses, startWorkerPool, type WorkerPool } from './worker-pool.ts'
import { startApi } from '../../services/api/api-service.ts'
import { parseConfig as parseApiConfig } from '../../services/api/api-config.ts'

export type StackOptions = {
  /** Everything lives here and stays: Redis' append-only file, objects, the log. */
  dataDir: string
  /** Worker processes; 0 starts neither workers nor a model, enough to read former runs. */
  workers: number
  /** Returns the full path of the Redis server program; finds it, or gets it. */
  redisProgram(): Promise<string>
  /** Whether to start discovery without workers. With workers it always runs; without discovery no run proceeds. */
  discovery?: boolean
  /** The environment; services get the settings in it that they read, unless the stack sets these itself. */
  environment?: Env
  /** The port of the API; 0: any free one. */
  port: number
  model: ModelAccess
  /** The API's token; a random one when undefined. */
  token: string | undefined
  logLevel: LogLevel
  /** Undefined: stderr. */
  logPath: string | undefined
  /** Gets a line for each worker that died. */
  say(line: string): void
  /** Before workers that died start again; the usual ones by default. */
  restartPauses?: RestartPauses
  signal: AbortSignal
}

export type StackProcess = { service: string; pid: number }

export type Stack = {
  url: string
  token: string
  redisUrl: string
  s3: LocalS3
  /** What answers the agents; undefined without workers. */
  modelKind: ModelKind | undefined
  /** The processes alive now; the services inside this one carry its own id. */
  processes(): StackProcess[]
  /** Aborted, with an AppError that names the part, when a part ended by itself that is not started again. */
  failed: AbortSignal
  /** Ends everything, last started first; at most about 10 s. May be called twice. */
  stop(): Promise<void>
}

type Parts = { redis: GuardedRedis; s3: LocalS3; workers: WorkerPool | undefined; failure: AbortController }

/**
 * The whole service on one machine: a private Redis, a private S3 and the workers as processes of their own, API,
 * discovery and the rehearsal model inside this one. What was started is stopped again when a part does not start.
 * CONFIG_006 when Redis is not installed, another stack has the folder or the port is taken; CONFIG_003 when the folder
 * cannot be written. While a stack with workers runs, other commands find it (running-stack.ts).
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const releaser = openReleaser()
  try {
    const lock = await lockStack(options.dataDir, options.environment)
    releaser.add('lock', lock.release)
    return await startParts(options, lock, releaser)
  } catch (error) {
    await releaser.release().catch(() => {}) // the first failure is the one to report
    options.signal.throwIfAborted()
    throw error
  }
}

type Releaser = ReturnType<typeof openReleaser>

async function startParts(options: StackOptions, lock: StackLock, releaser: Releaser): Promise<Stack> {
  const token = options.token ?? randomBytes(24).toString('base64url')
  const password = randomBytes(24).toString('hex')
  const secrets = [token, password, options.model.apiKey].filter((secret) => secret !== undefined)
  const log = await openStackLog({
    path: options.logPath,
    append: options.workers === 0,
    level: options.logLevel,
    secrets,
  })
  releaser.add('log', log.close)
  const discovery = options.workers > 0 || options.discovery === true ? loadDiscovery() : undefined
  discovery?.catch(() => {}) // startInProcess waits for it, and throws its error
  const { redis, s3 } = await startStores({ ...options, password }, lock, releaser)
  options.signal.throwIfAborted()
  const stores = storeEnv({ redisUrl: redis.url, s3, logLevel: options.logLevel })
  const env = servicesEnv(stores, { token, port: options.port, environment: options.environment ?? {} })
  const modelKind = options.workers === 0 ? undefined : kindOf(options.model)
  const { url } = await startInProcess({ env, modelKind, discovery, log: log.entry, releaser })
  options.signal.throwIfAborted()
  // After discovery, which takes operations back from workers of an earlier stack. Workers also stop first, while discovery runs.
  const workers = options.workers === 0 ? undefined : await startWorkers(options, stores, { log, releaser })
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = s3
  const s3Access = { endpoint, bucket, region, accessKeyId, secretAccessKey }
  const access = { url, token, redisUrl: redis.url, s3: s3Access, modelKind }
  if (workers !== undefined) releaser.add('access', await publishAccess(options.dataDir, access))
  return assemble(
    { url, token, modelKind, releaser },
    { redis, s3, workers, failure: watchParts({ redis, s3, workers }) },
  )
}

function kindOf({ urls }: ModelAccess): ModelKind {
  return urls === undefined ? 'rehearsal' : 'servers'
}

async function startStores(options: StackOptions & { password: string }, lock: StackLock, releaser: Releaser) {
  const { dataDir, password } = options
  const program = await options.redisProgram()
  const onGuard = (pid: number) => lock.addChildren([pid])
  const started = await Promise.allSettled([
    startGuardedRedis({ dir: join(dataDir, 'redis'), program, password, onGuard }),
    startLocalS3({ dir: join(dataDir, 's3') }),
  ])
  const [redis, s3] = started
  if (redis.status === 'fulfilled') releaser.add('redis', redis.value.stop)
  if (s3.status === 'fulfilled') releaser.add('s3', s3.value.stop)
  if (redis.status === 'rejected') throw redis.reason
  if (s3.status === 'rejected') throw s3.reason
  await lock.addChildren([redis.value.pid, s3.value.pid])
  return { redis: redis.value, s3: s3.value }
}

async function startWorkers(
  options: StackOptions,
  stores: Env,
  { log, releaser }: { log: StackLog; releaser: Releaser },
): Promise<WorkerPool> {
  const { model, environment = {}, say, restartPauses: pauses } = options
  const modelUrls = model.urls ?? (await rehearsalUrl(environment, releaser))
  const env = workerEnv(stores, {
    modelUrls,
    model,
    compileCache: getCompileCacheDir(),
    environment,
  })
  const workers = startWorkerPool({
    count: options.workers,
    env,
    log,
    say,
    pauses,
  })
  releaser.add('workers', workers.stop)
  return workers
}

async function rehearsalUrl(environment: Env, releaser: Releaser): Promise<string> {
  const { url, close } = await startRehearsalModel(environment)
  releaser.add('rehearsal', close)
  return url
}

/** The end of a store, or workers that cannot start, end the stack. All are watched until it stops. */
function watchParts({ redis, s3, workers }: Omit<Parts, 'failure'>): AbortController {
  const failure = new AbortController()
  const fail = (error: unknown) => failure.abort(error)
  redis.failed.catch(fail)
  s3.failed.catch(fail)
  workers?.failed.catch(fail)
  return failure
}

function assemble(
  { url, token, modelKind, releaser }: Pick<Stack, 'url' | 'token' | 'modelKind'> & { releaser: Releaser },
  { redis, s3, workers, failure }: Parts,
): Stack {
  const inside = workers === undefined ? ['api'] : ['api', 'discovery']
  let stopping: Promise<void> | undefined
  return {
    url,
    token,
    redisUrl: redis.url,
    s3,
    modelKind,
    processes: () => [
      { service: 'redis', pid: redis.pid },
      { service: 's3', pid: s3.pid },
      ...inside.map((service) => ({ service, pid: process.pid })),
      ...(workers?.pids() ?? []).map((pid) => ({ service: 'worker', pid })),
    ],
    failed: failure.signal,
    stop: () => (stopping ??= releaser.release()),
  }
}

/** The code of discovery, which takes half a second to load. */
async function loadDiscovery() {
  const [{ startDiscovery }, { parseConfig }] = await Promise.all([
    import('../../services/discovery/discovery-service.ts'),
    import('../../services/discovery/discovery-config.ts'),
  ])
  return { startDiscovery, parseConfig }
}

/**
 * Starts the services in this process by their own factories, configured by the variables that their processes would
 * read.
 */
async function startInProcess(options: {
  env: Env
  /** Undefined in a stack without workers. */
  modelKind: ModelKind | undefined
  /** The code of discovery, which may still be loading; undefined when discovery is not to run. */
  discovery: ReturnType<typeof loadDiscovery> | undefined
  log: Log
  releaser: Releaser
}): Promise<{ url: string }> {
  const { env, modelKind, log, releaser } = options
  const api = await startApi({ ...parseApiConfig(env).api, modelKind }, { log })
  releaser.add('api', api.close)
  if (options.discovery !== undefined) {
    const { startDiscovery, parseConfig } = await options.discovery
    const discovery = await startDiscovery({ ...parseConfig(env).discovery, isAlone: true, modelKind }, { log })
    releaser.add('discovery', discovery.close)
  }
  return { url: api.url }
}
