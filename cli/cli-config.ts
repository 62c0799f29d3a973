import { resolve } from 'node:path'
import { z } from 'zod'
import type { AppError } from '#domain/error.ts'
import type { ErrorPolicyName, SkipKind } from '#domain/run.ts'
import { givenValue, readEnv, type Env } from '#platform/env.ts'
import type { LogLevel } from '#platform/log.ts'
import type { Settings } from '#settings/load-settings.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { storageConfig, storageEnv, type StorageConfig } from '#settings/storage-settings.ts'
import { faultOfServers, isModelServers } from './model-server.ts'
import { builtinAgents } from './run/known-agents.ts'
import { findDataFolder } from './stack/data-folder.ts'
import { checkEnvironment } from './stack/stack-env.ts'

const ModelServers = z
  .string()
  .superRefine((servers, context) => {
    if (isModelServers(servers)) return
    const fault = faultOfServers(servers) ?? 'must begin with http:// or https://'
    context.addIssue(`must be "rehearsal", or URLs of model servers: each ${fault}`)
  })
  .optional()

const cliEnv = {
  ...environmentOf('cli'),
  REMORA_MODEL_URLS: ModelServers,
  REMORA_TOKEN: z
    .string()
    .regex(/^[\x21-\x7E]+$/, 'must be a token as "remora up" prints it, without spaces')
    .optional(),
}

type CliValues = z.infer<z.ZodObject<typeof cliEnv>>

export type CliConfig = {
  /** The URL of a running service. Undefined: commands start an embedded stack. */
  apiUrl: string | undefined
  token: string | undefined
  /** Absolute. */
  dataDir: string
  logLevel: LogLevel
  /** Comma-separated, or undefined for the rehearsal model. */
  modelUrls: string | undefined
  /** The model's name on those servers. */
  modelName: string | undefined
  modelApiKey: string | undefined
  modelStream: boolean
  /** Whether an embedded stack may install or build a missing Redis. */
  mayInstallRedis: boolean
  /** PATH. */
  searchPath: string
  color: 'never' | 'always' | 'terminal'
  /** The folder of the bundles; absolute. */
  agentsDir: string
  /** The port of the API that `up` starts. */
  apiPort: number
  /** What a run requests that names nothing else. */
  request: { paths?: string[]; languages?: string[]; include?: SkipKind[]; errorPolicy?: ErrorPolicyName }
  discovery: { exclude: string[]; maxFileBytes: number; threads: number }
  /** The query packs that are used; `userDir` is absolute. */
  queries: { name: string; userDir?: string }
  /** The environment for services, with the values of the settings file. */
  environment: Env
  /**
   * Where the settings come from, or with `fault` why none of them counts. `own`: the process's environment, without
   * the file.
   */
  settings: Omit<Settings, 'env'> & { own: Env; fault?: AppError }
  /** Redis and S3 of a running service, for `verify`; undefined unless REMORA_REDIS_URL is set. */
  storage: StorageConfig | undefined
}

/**
 * The command line's configuration from the environment, with the settings file's values in it. CONFIG_003 names every
 * bad variable, including those that only the services of a stack read, since these would not start.
 */
export function readCliConfig(
  env: Env,
  settings: CliConfig['settings'] = { path: undefined, given: [], own: env },
): CliConfig {
  checkEnvironment(cliEnv, env)
  const values = readEnv(cliEnv, env)
  return {
    apiUrl: values.REMORA_API_URL?.replace(/\/+$/, ''),
    token: values.REMORA_TOKEN,
    dataDir: values.REMORA_DATA_DIR === undefined ? findDataFolder(process.cwd()) : resolve(values.REMORA_DATA_DIR),
    logLevel: values.REMORA_LOG_LEVEL,
    modelUrls: values.REMORA_MODEL_URLS,
    modelName: values.REMORA_MODEL,
    modelApiKey: values.REMORA_MODEL_API_KEY,
    modelStream: values.REMORA_MODEL_STREAM,
    mayInstallRedis: values.REMORA_REDIS_INSTALL === 'auto',
    searchPath: values.PATH,
    color: colorOf(values),
    agentsDir: resolve(values.REMORA_AGENTS_DIR ?? builtinAgents),
    apiPort: values.REMORA_API_PORT,
    request: requestOf(values),
    discovery: {
      exclude: values.REMORA_DISCOVERY_EXCLUDE,
      maxFileBytes: values.REMORA_MAX_FILE_BYTES,
      threads: values.REMORA_DISCOVERY_THREADS,
    },
    queries: queriesOf(values),
    environment: env,
    settings,
    storage: givenValue(env, 'REMORA_REDIS_URL') === undefined ? undefined : storageConfig(readEnv(storageEnv, env)),
  }
}

function queriesOf({ REMORA_QUERY_PACK: name, REMORA_QUERIES_DIR: dir }: CliValues): CliConfig['queries'] {
  return { name, ...(dir === undefined ? {} : { userDir: resolve(dir) }) }
}

function requestOf(values: CliValues): CliConfig['request'] {
  const { REMORA_PATHS: paths, REMORA_LANGUAGES: languages, REMORA_ERROR_POLICY: errorPolicy } = values
  const { REMORA_INCLUDE: include } = values
  return {
    ...(paths.length === 0 ? {} : { paths }),
    ...(languages.length === 0 ? {} : { languages }),
    ...(include.length === 0 ? {} : { include }),
    ...(errorPolicy === undefined ? {} : { errorPolicy }),
  }
}

/** NO_COLOR (no-color.org) wins over everything, whatever its value. */
function colorOf(env: CliValues): CliConfig['color'] {
  if (env.NO_COLOR !== undefined || env.TERM === 'dumb') return 'never'
  return env.FORCE_COLOR === undefined || env.FORCE_COLOR === '0' ? 'terminal' : 'always'
}
