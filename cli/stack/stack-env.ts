import type { z } from 'zod'
import { checkModelServers } from '#settings/model-config.ts'
import type { Owner } from '#settings/setting.ts'
import { environmentOf, passedOn } from '#settings/settings-table.ts'
import { behaviourEnv } from '../../services/rehearsal/rehearsal-config.ts'
import { leanMemory } from '#platform/lean-memory.mjs'
import { givenValue, readEnv, type Env } from '#platform/env.ts'
import type { LogLevel } from '#platform/log.ts'

export type ModelAccess = {
  /** Comma-separated model servers; undefined is the rehearsal model. */
  urls: string | undefined
  name: string | undefined
  apiKey: string | undefined
}

/** Leaves time to kill what does not end within the 10 s a stack may take to stop. */
const drainMs = 3000

export function storeEnv(redisUrl: string, objectsUrl: string, logLevel: LogLevel): Env {
  return { REMORA_REDIS_URL: redisUrl, REMORA_S3_ENDPOINT: objectsUrl, REMORA_LOG_LEVEL: logLevel }
}

/**
 * Returns what a service of a stack gets of the environment besides `own`: its stores, the variables that it reads, and how this machine reaches
 * others, which setups have a proxy of their own for.
 */
export function serviceEnv(service: Owner, stores: Env, environment: Env, own: Env): Env {
  return {
    ...(service === 'setup' ? givenOf(['PATH'], environment) : ofTheMachine(environment)),
    ...givenOf(passedOn([service]), environment),
    ...stores,
    ...own,
    [`REMORA_${service.toUpperCase()}_HEALTH_PORT`]: '0',
  }
}

type ModelEnvOptions = { modelUrls: string; model: ModelAccess; environment: Env }

/**
 * Returns all that a worker gets of the environment: its stores and model, the variables it reads, how this machine reaches a
 * model server (certificates, proxy), its temporary folder, the search path, on which gofmt is looked for, where Node
 * keeps compiled code, and where an image for containers is named what their engine needs; not the API's token.
 */
export function workerEnv(stores: Env, options: ModelEnvOptions & { own?: Env }): Env {
  const { environment, own } = options
  return {
    ...leanMemory,
    ...(givenValue(environment, 'REMORA_SANDBOX_IMAGE') === undefined ? {} : givenOf(forEngines, environment)),
    ...serviceEnv('worker', stores, environment, { ...modelEnv(options), REMORA_DRAIN_MS: String(drainMs), ...own }),
  }
}

/** Names the models of a stack for a service that asks them. */
export function modelEnv({ modelUrls, model, environment }: ModelEnvOptions): Env {
  return {
    REMORA_CONFIG: 'none', // the file's values are in the environment already
    REMORA_MODEL_URLS: modelUrls,
    // The details of other servers than these do not apply.
    ...(modelUrls === givenValue(environment, 'REMORA_MODEL_URLS') ? {} : { REMORA_MODEL_POOL: '' }),
    ...(model.name === undefined ? {} : { REMORA_MODEL: model.name }),
    ...(model.apiKey === undefined ? {} : { REMORA_MODEL_API_KEY: model.apiKey }),
  }
}

export function servicesEnv(
  stores: Env,
  {
    token,
    signingKey,
    port,
    environment,
    publisher,
  }: { token: string; signingKey: string; port: number; environment: Env; publisher: Env },
): Env {
  return {
    ...givenOf(passedOn(['api', 'discovery']), environment),
    ...givenOf(['PATH'], environment),
    ...stores,
    ...publisher,
    REMORA_TOKEN: token,
    REMORA_SIGNING_KEY: signingKey,
    REMORA_API_PORT: String(port),
    REMORA_API_HEALTH_PORT: '0',
    REMORA_DISCOVERY_HEALTH_PORT: '0',
  }
}

/** Variables that Node reads; a proxy counts only with NODE_USE_ENV_PROXY. */
const certificates = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SSL_CERT_FILE', 'SSL_CERT_DIR']
const proxies = ['NODE_USE_ENV_PROXY', 'http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY']

/** Names what the command of a container engine needs, and what finds it. */
const forEngines = [
  [
    'PATH',
    'HOME',
    'XDG_RUNTIME_DIR',
    'DOCKER_HOST',
    'DOCKER_CONTEXT',
    'DOCKER_CONFIG',
    'DOCKER_CERT_PATH',
    'DOCKER_TLS_VERIFY',
  ],
  ['CONTAINER_HOST', 'CONTAINER_CONNECTION', 'CONTAINERS_CONF', 'CONTAINERS_STORAGE_CONF'],
].flat()

function ofTheMachine(environment: Env): Env {
  const given = givenOf([...certificates, ...proxies, 'NODE_COMPILE_CACHE', 'TMPDIR', 'PATH'], environment)
  if (!proxies.some((name) => given[name] !== undefined)) return given
  const direct = givenValue(environment, 'no_proxy') ?? givenValue(environment, 'NO_PROXY')
  return { ...given, no_proxy: [direct, '127.0.0.1', 'localhost'].filter((host) => host !== undefined).join(',') }
}

/** Throws a CONFIG_003 that names every variable that is bad for one of the services of a stack, or in `own`. */
export function checkEnvironment(own: z.ZodRawShape, env: Env): void {
  const owners = ['api', 'discovery', 'worker', 'conductor', 'watcher', 'setup', 'publisher'] as const
  const given = Object.keys(givenOf(passedOn([...owners, 'rehearsal']), env))
  const services = given.length === 0 ? [] : [...owners.map(environmentOf), behaviourEnv]
  const shapes = services.flatMap((shape) => Object.entries(shape).filter(([name]) => given.includes(name)))
  readEnv({ ...own, ...Object.fromEntries(shapes) }, env)
  checkModelServers(env)
}

function givenOf(names: readonly string[], environment: Env): Env {
  const given = names.filter((name) => givenValue(environment, name) !== undefined)
  return Object.fromEntries(given.map((name) => [name, environment[name]]))
}
