import { resolve } from 'node:path'
import { z } from 'zod'
import { PackName } from '#domain/code-node.ts'
import type { AppError } from '#domain/error.ts'
import { ErrorPolicyName } from '#domain/run.ts'
import { SkipKind } from '#domain/skip-kind.ts'
import { CommaList, givenValue, LogLevelName, Port, readEnv, storageConfig, storageEnv } from '#platform/env.ts'
import type { Env, StorageConfig } from '#platform/env.ts'
import type { LogLevel } from '#platform/log.ts'
import type { Settings } from '#settings/load-settings.ts'
import { faultOfServers, isHttpUrl, isModelServers } from './model-server.ts'
import { builtinAgents } from './run/known-agents.ts'
import { findDataFolder } from './stack/find-data-folder.ts'
import { checkEnvironment } from './stack/stack-env.ts'

const text = z.string().optional()

const ModelServers = z
  .string()
  .superRefine((servers, context) => {
    if (isModelServers(servers)) return
    const fault = faultOfServers(servers) ?? 'must begin with http:// or https://'
    context.addIssue(`must be "rehearsal", or URLs of model servers: each ${fault}`)
  })
  .optional()

const count = z.coerce.number().int()
export const cliEnv = {
  REMORA_AGENTS_DIR: text.describe('the folder of the bundles; without it those that come with Remora'),
  REMORA_API_PORT: Port.default(8420).describe('of `remora up`'),
  REMORA_PATHS: CommaList.prefault('').describe(
    'globs or folders a run works on that names none itself, separated by commas',
  ),
  REMORA_LANGUAGES: CommaList.prefault('').describe('languages a run works on, separated by commas'),
  REMORA_INCLUDE: CommaList.pipe(z.array(SkipKind))
    .prefault('')
    .describe('kinds of files a run works on although they are skipped by default, separated by commas'),
  REMORA_ERROR_POLICY: ErrorPolicyName.optional().describe('of runs that name none'),
  REMORA_DISCOVERY_EXCLUDE: CommaList.prefault('').describe('as for discovery'),
  REMORA_DISCOVERY_THREADS: count.min(0).max(256).default(0).describe('as for discovery'),
  REMORA_MAX_FILE_BYTES: count.min(1).default(1_000_000).describe('as for discovery'),
  REMORA_QUERY_PACK: PackName.default('default').describe('as for discovery'),
  REMORA_QUERIES_DIR: text.describe('as for discovery'),
  REMORA_API_URL: z
    .string()
    .refine(isHttpUrl, {
      error: 'must be the http(s) URL of a service, such as http://localhost:8420',
    })
    .optional()
    .describe('use a running service instead of an embedded stack'),
  REMORA_TOKEN: z
    .string()
    .regex(/^[\x21-\x7E]+$/, 'must be a token as "remora up" prints it, without spaces')
    .optional()
    .describe('secret: of that service, or for the stack that is started'),
  REMORA_DATA_DIR: z
    .string()
    .optional()
    .describe(
      "where the embedded stack keeps Redis' file, objects and its log, made if missing; without it the nearest `.remora` of an earlier run from here upwards, else one here",
    ),
  REMORA_LOG_LEVEL: LogLevelName.default('info').describe("of the embedded stack's log"),
  REMORA_MODEL: text.describe("the model's name, for the workers of the embedded stack"),
  REMORA_MODEL_URLS: ModelServers.describe('as for the worker; without it the rehearsal model'),
  REMORA_MODEL_STREAM: z
    .enum(['true', 'false'])
    .default('false')
    .describe('as for the worker; `remora harness` goes by it, too'),
  REMORA_MODEL_API_KEY: text.describe('secret: for the workers of the embedded stack'),
  REMORA_REDIS_INSTALL: z
    .enum(['auto', 'never'])
    .default('auto')
    .describe('`never`: a Redis that is missing is not installed or built, only missed'),
  PATH: z.string().default('').describe('where programs are looked for'),
  NO_COLOR: text.describe('any value but an empty one: no colours; so does `TERM=dumb`'),
  FORCE_COLOR: text.describe('any value but an empty one and `0`: colours in a pipe too; `NO_COLOR` wins'),
  TERM: text.describe('`dumb`: no colours'),
}

export type CliConfig = {
  /** A running service. Undefined: commands bring an embedded stack. */
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
  /** Whether an embedded stack may get a Redis that is not there. */
  mayInstallRedis: boolean
  /** PATH. */
  searchPath: string
  color: 'never' | 'always' | 'terminal'
  /** The folder of the bundles; absolute. */
  agentsDir: string
  /** Of `up`. */
  apiPort: number
  /** What a run is asked for that does not say otherwise. */
  request: { paths?: string[]; languages?: string[]; include?: SkipKind[]; errorPolicy?: ErrorPolicyName }
  discovery: { exclude: string[]; maxFileBytes: number; threads: number }
  /** The query packs that are used; `userDir` is absolute. */
  queries: { name: string; userDir?: string }
  /** What counts as the environment of services: the settings file's values are in it. */
  environment: Env
  /** Where the settings come from, or why none of them counts; `own` is the process's environment, without the file. */
  settings: Omit<Settings, 'env'> & { own: Env; fault?: AppError }
  /** Redis and S3 of a running service, for `verify`; undefined unless REMORA_REDIS_URL is set. */
  storage: StorageConfig | undefined
}

/**
 * The command line's slice of the environment, in which the settings file is. CONFIG_003 names every bad variable, also
 * of those that only the services of a stack read: they would not start.
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
    modelStream: values.REMORA_MODEL_STREAM === 'true',
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

function queriesOf({
  REMORA_QUERY_PACK: name,
  REMORA_QUERIES_DIR: dir,
}: {
  REMORA_QUERY_PACK: string
  REMORA_QUERIES_DIR?: string | undefined
}): CliConfig['queries'] {
  return { name, ...(dir === undefined ? {} : { userDir: resolve(dir) }) }
}

function requestOf(values: {
  REMORA_PATHS: string[]
  REMORA_LANGUAGES: string[]
  REMORA_INCLUDE: SkipKind[]
  REMORA_ERROR_POLICY?: ErrorPolicyName | undefined
}): CliConfig['request'] {
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
function colorOf(env: { NO_COLOR?: string | undefined; FORCE_COLOR?: string | undefined; TERM?: string | undefined }) {
  if (env.NO_COLOR !== undefined || env.TERM === 'dumb') return 'never'
  return env.FORCE_COLOR === undefined || env.FORCE_COLOR === '0' ? 'terminal' : 'always'
}
