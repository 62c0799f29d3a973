import type { z } from 'zod'
import { apiEnv } from '../../services/api/config.ts'
import { discoveryEnv } from '../../services/discovery/config.ts'
import { behaviourEnv } from '../../services/rehearsal/config.ts'
import { checkModelServers, workerEnv as workerVariables } from '../../services/worker/config.ts'
import { builtinAgents } from '../run/known-agents.ts'
import { leanMemory } from '#platform/lean-memory.mjs'
import type { LocalS3 } from '#platform/local-s3.ts'
import { givenValue, readEnv, type Env } from '#platform/env.ts'
import type { LogLevel } from '#platform/log.ts'

export type StackEnvOptions = {
  redisUrl: string
  s3: Pick<LocalS3, 'endpoint' | 'bucket' | 'region' | 'accessKeyId' | 'secretAccessKey'>
  logLevel: LogLevel
}

export type ModelAccess = {
  /** Comma-separated model servers; undefined is the rehearsal model. */
  urls: string | undefined
  /** The model's name on those servers. */
  name: string | undefined
  apiKey: string | undefined
}

/** Leaves time to kill what does not end within the 10 s a stack may take to stop. */
const drainMs = 3000

/** Where the stack's stores are, in the variables every service reads (contract.md §5). */
export function storeEnv({ redisUrl, s3, logLevel }: StackEnvOptions): Env {
  return {
    REMORA_REDIS_URL: redisUrl,
    REMORA_S3_ENDPOINT: s3.endpoint,
    REMORA_S3_BUCKET: s3.bucket,
    REMORA_S3_REGION: s3.region,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
    REMORA_LOG_LEVEL: logLevel,
  }
}

type WorkerEnvOptions = { modelUrls: string; model: ModelAccess; compileCache: string | undefined; environment: Env }

/**
 * All a worker process is given: where its stores and its model are, what is set of its own variables, and how this machine
 * reaches a model server (certificates, proxy) and where it keeps temporary files. Nothing else of this process's
 * environment, and not the API's token; the compile cache is a folder, and makes its start faster.
 */
export function workerEnv(stores: Env, { modelUrls, model, compileCache, environment }: WorkerEnvOptions): Env {
  return {
    ...leanMemory,
    ...ofTheMachine(environment),
    ...givenAmong(workerVariables, environment),
    ...stores,
    REMORA_CONFIG: 'none', // what its file says is among the settings
    REMORA_MODEL_URLS: modelUrls,
    // What is known of other servers than these is of no use.
    ...(modelUrls === givenValue(environment, 'REMORA_MODEL_URLS') ? {} : { REMORA_MODEL_POOL: '' }),
    REMORA_WORKER_HEALTH_PORT: '0',
    REMORA_DRAIN_MS: String(drainMs),
    ...(model.name === undefined ? {} : { REMORA_MODEL: model.name }),
    ...(model.apiKey === undefined ? {} : { REMORA_MODEL_API_KEY: model.apiKey }),
    ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }),
  }
}

/** For the services inside this process. */
export function servicesEnv(
  stores: Env,
  { token, port, environment }: { token: string; port: number; environment: Env },
): Env {
  return {
    REMORA_AGENTS_DIR: builtinAgents,
    ...givenAmong({ ...apiEnv, ...discoveryEnv }, environment),
    ...stores,
    REMORA_TOKEN: token,
    REMORA_API_PORT: String(port),
    REMORA_DISCOVERY_HEALTH_PORT: '0',
  }
}

/** As Node reads them; a proxy counts only with NODE_USE_ENV_PROXY. */
const certificates = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SSL_CERT_FILE', 'SSL_CERT_DIR']
const proxies = ['NODE_USE_ENV_PROXY', 'http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY']

/** The stack's own servers are never behind the proxy. */
function ofTheMachine(environment: Env): Env {
  const given = givenOf([...certificates, ...proxies, 'TMPDIR'], environment)
  if (!proxies.some((name) => given[name] !== undefined)) return given
  const direct = givenValue(environment, 'no_proxy') ?? givenValue(environment, 'NO_PROXY')
  return { ...given, no_proxy: [direct, '127.0.0.1', 'localhost'].filter((host) => host !== undefined).join(',') }
}

/** The stack decides these itself. */
const ownAffairs =
  /^(?:AWS_\w+|REMORA_(?:REDIS_URL|S3_\w+|LOG_LEVEL|TOKEN|API_HOST|API_PORT|\w+_HEALTH_PORT|WORKER_ID|DRAIN_MS|MODEL|MODEL_URLS|MODEL_API_KEY))$/

/** What services of a stack read of the environment, with its schema. */
const toldVariables: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  Object.entries({ ...apiEnv, ...discoveryEnv, ...workerVariables, ...behaviourEnv }).filter(
    ([name]) => !ownAffairs.test(name),
  ),
)

/** CONFIG_003 names every variable that is bad for one of the services of a stack, or for whoever `own` belongs to. */
export function checkEnvironment(own: z.ZodRawShape, env: Env): void {
  readEnv({ ...own, ...toldVariables }, env)
  checkModelServers(env)
}

/** What is set of the variables a service reads, without those the stack decides. */
function givenAmong(variables: object, environment: Env): Env {
  const names = Object.keys(variables).filter((name) => !ownAffairs.test(name))
  return givenOf(names, environment)
}

function givenOf(names: readonly string[], environment: Env): Env {
  const given = names.filter((name) => givenValue(environment, name) !== undefined)
  return Object.fromEntries(given.map((name) => [name, environment[name]]))
}
