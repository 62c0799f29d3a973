import { randomBytes } from 'node:crypto'
import { getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import type { ModelKind } from '#domain/model-kind.ts'
import { startLocalS3, type LocalS3 } from '#platform/local-s3.ts'
import type { Env } from '#platform/env.ts'
import type { LogLevel } from '#platform/log.ts'
import { openReleaser } from '#platform/shutdown.ts'
import { startGuardedRedis, type GuardedRedis } from './guarded-redis.ts'
import { loadDiscovery, startInProcess } from './in-process-services.ts'
import { startRehearsalModel } from './rehearsal-model.ts'
import { servicesEnv, storeEnv, workerEnv, type ModelAccess } from './stack-env.ts'
import { lockStack, type StackLock } from './stack-lock.ts'
import { publishAccess } from './stack-access.ts'
import { openStackLog, type StackLog } from './stack-log.ts'
import { startWorkerPool, type WorkerPool } from './worker-pool.ts'

export type StackOptions = {
  /** Everything lives here and stays: Redis' append-only file, objects, the log. */
  dataDir: string
  /** Worker processes; 0 starts neither workers nor a model, enough to read former runs. */
  workers: number
  /** The full path of the server program, which is looked for, or got. */
  redisProgram(): Promise<string>
  /** Without it nothing moves runs on; where there are workers there is discovery. */
  discovery?: boolean
  /** Of it, services are told what they read and the stack does not decide itself. */
  environment?: Env
  /** Of the API; 0 takes a free one. */
  port: number
  model: ModelAccess
  /** The API's token; a random one when undefined. */
  token: string | undefined
  logLevel: LogLevel
  /** Undefined: stderr. */
  logPath: string | undefined
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
  /** Aborted with the AppError that says which part ended by itself and was not to be had again. */
  failed: AbortSignal
  /** Ends everything, last started first; at most about 10 s. May be called twice. */
  stop(): Promise<void>
}

type Parts = { redis: GuardedRedis; s3: LocalS3; workers: WorkerPool | undefined; failure: AbortController }

/**
 * The whole service on one machine: a private Redis, a private S3 and the workers as processes of their own, API,
 * discovery and the rehearsal model inside this one. What was started is stopped again when a part does not start.
 * CONFIG_006 when Redis is not installed, another stack has the folder or the port is taken; CONFIG_003 when the folder
 * cannot be written. A stack with workers is to be found by other commands (stack-access.ts) while it runs.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const releaser = openReleaser()
  try {
    const lock = await lockStack(options.dataDir, options.environment)
    releaser.add('lock', lock.release)
    return await startParts(options, lock, releaser)
  } catch (error) {
    await releaser.release().catch(() => {}) // the first failure is the one to tell
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
  // After discovery, which takes away what workers of an earlier stack had; they end first, while it still hears them.
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
  const { model, environment = {} } = options
  const modelUrls = model.urls ?? (await rehearsalUrl(environment, releaser))
  const env = workerEnv(stores, {
    modelUrls,
    model,
    compileCache: getCompileCacheDir(),
    environment,
  })
  const workers = startWorkerPool({ count: options.workers, env, log })
  releaser.add('workers', workers.stop)
  return workers
}

async function rehearsalUrl(environment: Env, releaser: Releaser): Promise<string> {
  const { url, close } = await startRehearsalModel(environment)
  releaser.add('rehearsal', close)
  return url
}

/** A store gone, or workers that cannot live, end the stack; all are watched until it stops. */
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
