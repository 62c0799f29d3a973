import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { z } from 'zod'
import { CommaList, JsonText, Port, readEnv, storageConfig, storageEnv, storageSecrets } from '#platform/env.ts'
import { AppError } from '#domain/error.ts'
import { faultOfServerUrl, modelServerUrl } from '#platform/model-server-url.ts'
import { proxyOf, type HttpProxy } from '#platform/proxy-env.ts'
import { withoutLogin } from '#platform/without-login.ts'
import type { Env, StorageConfig } from '#platform/env.ts'
import type { LogLevel } from '#platform/log.ts'

export type ModelServer = {
  url: string
  /** Models and adapters it is asked for; none: those it offers. */
  models: readonly string[]
  /** Requests at once, of all workers together. */
  maxInFlight: number
}

export type WorkerConfig = {
  /** Unlike every other worker's: the slots of the fleet are counted by it. */
  workerId: string
  /** Requests of this worker to each model server at once. */
  slots: number
  /** Child processes that run tool scripts. */
  scriptProcesses: number
  healthPort: number
  model: {
    /** Without one, the first model the servers offer. */
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
  /** How long operations may go on after a stop was asked for. */
  drainMs: number
  /** How long a worker may be silent before its operations go to another. The same on all workers. */
  leaseMs: number
}

const count = z.coerce.number().int().min(1)

const rehearsalModel = 'rehearsal'
const urlOr = (word?: string) =>
  z.string().superRefine((text, context) => {
    const fault = text === word ? undefined : faultOfServerUrl(text)
    if (fault !== undefined) context.addIssue(fault)
  })
/** Of servers, or the one word. */
const ServerNames = CommaList.pipe(z.array(urlOr(rehearsalModel)).min(1)).refine(
  (names) => names.length === 1 || !names.includes(rehearsalModel),
  '`rehearsal` stands alone',
)
const ServerDetails = z.strictObject({
  url: urlOr(),
  models: z.array(z.string().min(1)).optional(),
  max_in_flight: count.optional(),
})
/** Where the rehearsal service listens unless it is told otherwise. */
const rehearsalUrl = 'http://127.0.0.1:8421/v1'

export const workerEnv = {
  ...storageEnv,
  REMORA_WORKER_ID: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .optional()
    .describe("its name in events and logs, unlike every other worker's; without one `worker-<host>-<pid>-<random>`"),
  REMORA_WORKER_SLOTS: count
    .max(4096)
    .default(16)
    .describe(
      'requests to each model server at once; three times as many operations are open, so that a model is not idle while some are set up or proved',
    ),
  REMORA_WORKER_SCRIPT_PROCESSES: count.max(64).default(2).describe('sandbox processes for tool scripts'),
  REMORA_WORKER_HEALTH_PORT: Port.default(8423).describe('`/healthz`, `/readyz`'),
  REMORA_MODEL: z.string().min(1).optional().describe("the model's name; without one the first that is offered"),
  REMORA_MODEL_URLS: ServerNames.optional().describe(
    'OpenAI-compatible servers, separated by commas; `rehearsal` is the rehearsal service on its usual port. Without it the servers of REMORA_MODEL_POOL, without those `rehearsal`',
  ),
  REMORA_MODEL_POOL: JsonText.pipe(z.array(ServerDetails))
    .default([])
    .describe(
      'JSON, what is to be known of some of those servers: `[{"url": …, "models": [models and adapters it is asked for], "max_in_flight": requests of all workers to it at once}]`',
    ),
  REMORA_MODEL_MAX_IN_FLIGHT: count
    .max(100_000)
    .default(64)
    .describe('requests of all workers to one server at once, unless REMORA_MODEL_POOL says otherwise of it'),
  REMORA_MODEL_API_KEY: z.string().optional().describe('secret'),
  REMORA_MODEL_TEMPERATURE: z.coerce.number().min(0).max(2).default(0).describe('of every request'),
  REMORA_MODEL_TOOL_CHOICE: z
    .enum(['required', 'auto'])
    .default('required')
    .describe('of every request but the last of an attempt, which must submit'),
  REMORA_MODEL_STREAM: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true` asks for answers piece by piece: events tell the time to the first token, at some more CPU'),
  REMORA_MODEL_TOOL_GUIDE: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true` ends every system prompt with a line for each tool, which helps some small models'),
  REMORA_MODEL_RETRY_BUDGET_MS: count
    .max(3_600_000)
    .default(20_000)
    .describe('how long after its first failure a model request may be tried again; each try has its own limit'),
  REMORA_MODEL_TIMEOUT_MS: count
    .max(3_600_000)
    .default(120_000)
    .describe('of one request to a model server, the whole reply included; more for slow models'),
  REMORA_MODEL_HEDGE_AFTER_MS: z.coerce
    .number()
    .int()
    .min(0)
    .max(3_600_000)
    .default(0)
    .describe(
      'how long a request may be without an answer before it is sent to a second server too, where there is one; the first good reply counts. 0: never',
    ),
  REMORA_BLOB_CACHE_BYTES: count.default(256 * 1024 * 1024).describe('contents kept in memory'),
  REMORA_DRAIN_MS: count
    .max(86_400_000)
    .default(20_000)
    .describe('how long operations may go on after SIGTERM; what is not done then is handed back'),
  REMORA_LEASE_MS: count
    .min(1000)
    .max(3_600_000)
    .default(30_000)
    .describe(
      'how long a worker may be silent before its operations go to another; the same on all workers and discoveries',
    ),
}

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
      stream: read.REMORA_MODEL_STREAM === 'true',
      toolGuide: read.REMORA_MODEL_TOOL_GUIDE === 'true',
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

/** CONFIG_003 where a worker with this environment would not start for its model servers. */
export function checkModelServers(env: Env): void {
  modelServers(readEnv(serversEnv, env))
}

type ServersRead = z.infer<z.ZodObject<typeof serversEnv>>

function modelServers(read: ServersRead): ModelServer[] {
  const said = read.REMORA_MODEL_URLS ?? read.REMORA_MODEL_POOL.map(({ url }) => url)
  const isRehearsal = said[0] === rehearsalModel
  const urls = isRehearsal || said.length === 0 ? [rehearsalUrl] : said
  const foreign = read.REMORA_MODEL_POOL.find((details) => !urls.some((url) => isSameServer(url, details.url)))
  // The word sets aside the servers that remora.yaml names; it is no slip.
  if (foreign !== undefined && !isRehearsal) {
    const words = `bad environment: REMORA_MODEL_POOL: ${withoutLogin(foreign.url)} is none of the servers in REMORA_MODEL_URLS`
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
 * `worker-<host>-<pid>-<random>`, at most 64 characters. In containers every process has the same number, and copies of
 * a host its name.
 */
export function newWorkerId(host: string): string {
  const [name = ''] = host.split('.')
  const plain = name.replaceAll(/[^\w-]/g, '-').slice(0, 40)
  return `worker-${plain}-${process.pid}-${randomBytes(3).toString('hex')}`
}
