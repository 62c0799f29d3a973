import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { modelServerUrl } from '#platform/model-server-url.ts'
import { withoutLogin } from '#platform/hide-secrets.ts'
import { type Env, type HttpProxy, proxyOf, readEnv } from '#platform/env.ts'
import type { LogLevel } from '#platform/log.ts'
import { rehearsalWord } from '#settings/model-settings.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { storageConfig, storageSecrets, type StorageConfig } from '#settings/storage-settings.ts'

export type ModelServer = {
  url: string
  /** Models and adapters to ask it for; empty: those it offers. */
  models: readonly string[]
  /** The most requests in flight, of all workers together. */
  maxInFlight: number
}

export type WorkerConfig = {
  /** Unique among all workers: the slots of the fleet are counted by it. */
  workerId: string
  /** The most requests of this worker in flight to each model server. */
  slots: number
  /** Child processes that run tool scripts. */
  scriptProcesses: number
  healthPort: number
  model: {
    /** Undefined: the first model that the servers offer. */
    name: string | undefined
    servers: readonly ModelServer[]
    apiKey: string | undefined
    temperature: number
    toolChoice: 'required' | 'auto'
    stream: boolean
    /** Whether system prompts end with a line for each tool. */
    toolGuide: boolean
    retryBudgetMs: number
    /** Of one request. */
    timeoutMs: number
    hedgeAfterMs: number | undefined
    proxy: HttpProxy | undefined
  }
  storage: StorageConfig
  blobCacheBytes: number
  /** How long operations may continue after a stop was requested. */
  drainMs: number
  /** How long a worker may be silent before its operations go to another. The same on all workers. */
  leaseMs: number
}

/** The default address of the rehearsal service. */
const rehearsalUrl = 'http://127.0.0.1:8421/v1'

const workerEnv = environmentOf('worker')

/** The worker's part of the environment. CONFIG_003 names every variable that is missing or wrong. */
export function parseConfig(env: Env): { worker: WorkerConfig; logLevel: LogLevel; secrets: string[] } {
  const read = readEnv(workerEnv, env)
  const worker: WorkerConfig = {
    workerId: read.REMORA_WORKER_ID ?? newWorkerId(hostname()),
    slots: read.REMORA_WORKER_SLOTS,
    scriptProcesses: read.REMORA_WORKER_SCRIPT_PROCESSES,
    healthPort: read.REMORA_WORKER_HEALTH_PORT,
    model: {
      name: read.REMORA_MODEL,
      servers: modelServers(read),
      apiKey: read.REMORA_MODEL_API_KEY,
      temperature: read.REMORA_MODEL_TEMPERATURE,
      toolChoice: read.REMORA_MODEL_TOOL_CHOICE,
      stream: read.REMORA_MODEL_STREAM,
      toolGuide: read.REMORA_MODEL_TOOL_GUIDE,
      retryBudgetMs: read.REMORA_MODEL_RETRY_BUDGET_MS,
      timeoutMs: read.REMORA_MODEL_TIMEOUT_MS,
      hedgeAfterMs: read.REMORA_MODEL_HEDGE_AFTER_MS === 0 ? undefined : read.REMORA_MODEL_HEDGE_AFTER_MS,
      proxy: proxyOf(env),
    },
    storage: storageConfig(read),
    blobCacheBytes: read.REMORA_BLOB_CACHE_BYTES,
    drainMs: read.REMORA_DRAIN_MS,
    leaseMs: read.REMORA_LEASE_MS,
  }
  const secrets = [read.REMORA_MODEL_API_KEY ?? [], storageSecrets(read)].flat()
  return { worker, logLevel: read.REMORA_LOG_LEVEL, secrets }
}

const serversEnv = {
  REMORA_MODEL_URLS: workerEnv.REMORA_MODEL_URLS,
  REMORA_MODEL_POOL: workerEnv.REMORA_MODEL_POOL,
  REMORA_MODEL_MAX_IN_FLIGHT: workerEnv.REMORA_MODEL_MAX_IN_FLIGHT,
}

/** Throws CONFIG_003 where a worker with this environment would not start because of its model servers. */
export function checkModelServers(env: Env): void {
  modelServers(readEnv(serversEnv, env))
}

type ServersRead = z.infer<z.ZodObject<typeof serversEnv>>

function modelServers(read: ServersRead): ModelServer[] {
  const named = read.REMORA_MODEL_URLS ?? read.REMORA_MODEL_POOL.map(({ url }) => url)
  const isRehearsal = named[0] === rehearsalWord
  const urls = isRehearsal || named.length === 0 ? [rehearsalUrl] : named
  const foreign = read.REMORA_MODEL_POOL.find((details) => !urls.some((url) => isSameServer(url, details.url)))
  // `rehearsal` overrides the servers in remora.yaml on purpose.
  if (foreign !== undefined && !isRehearsal) {
    const words = `bad environment: REMORA_MODEL_POOL: ${withoutLogin(foreign.url)} is not one of the servers in REMORA_MODEL_URLS`
    throw new AppError('CONFIG_003', words)
  }
  return urls.map((url) => {
    const details = read.REMORA_MODEL_POOL.find((one) => isSameServer(url, one.url))
    const maxInFlight = details?.max_in_flight ?? read.REMORA_MODEL_MAX_IN_FLIGHT
    return { url, models: details?.models ?? [], maxInFlight }
  })
}

function isSameServer(url: string, other: string): boolean {
  return modelServerUrl(url) === modelServerUrl(other)
}

/**
 * `worker-<host>-<pid>-<random>`, at most 64 characters. The random part is needed since containers share process ids, and
 * copies of a host share its name.
 */
export function newWorkerId(host: string): string {
  const [name = ''] = host.split('.')
  const plain = name.replaceAll(/[^\w-]/g, '-').slice(0, 40)
  return `worker-${plain}-${process.pid}-${randomBytes(3).toString('hex')}`
}
