import { resolve } from 'node:path'
import { z } from 'zod'
import type { AppError } from '#domain/error.ts'
import { type Env, givenValue, readEnv } from '#platform/env.ts'
import type { Settings } from '#settings/load-settings.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { bareEnv } from '#platform/child-env.ts'
import { sandboxConfig } from '#settings/sandbox-config.ts'
import { storageConfig, storageEnv } from '#settings/storage-settings.ts'
import { faultOfServers, isModelServers } from './model-server.ts'
import { findDataFolder } from './stack/data-folder.ts'
import { checkEnvironment } from './stack/stack-env.ts'
import { shownPath } from './wording.ts'

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

/** `fault` is the reason why none of the settings is used, `own` the environment without the file. */
type CliSettings = Omit<Settings, 'env'> & { own: Env; fault?: AppError }

export type CliConfig = ReturnType<typeof readCliConfig>

/** Throws CONFIG_003 with every bad variable, also those of a stack. Paths are relative to `cwd`. */
export function readCliConfig(
  env: Env,
  settings: CliSettings = { path: undefined, given: [], own: env },
  cwd: string = process.cwd(),
) {
  checkEnvironment(cliEnv, env)
  const values = readEnv(cliEnv, env)
  const { REMORA_QUERIES_DIR: queriesDir } = values
  return {
    apiUrl: values.REMORA_API_URL?.replace(/\/+$/, ''),
    token: values.REMORA_TOKEN,
    dataDir: values.REMORA_DATA_DIR === undefined ? findDataFolder(cwd) : resolve(cwd, values.REMORA_DATA_DIR),
    logging: { level: values.REMORA_LOG_LEVEL, format: values.REMORA_LOG_FORMAT },
    modelUrls: values.REMORA_MODEL_URLS,
    modelName: values.REMORA_MODEL,
    modelApiKey: values.REMORA_MODEL_API_KEY,
    modelStream: values.REMORA_MODEL_STREAM,
    retryBudgetMs: values.REMORA_MODEL_RETRY_BUDGET_MS,
    github: githubOf(values),
    publicUrl: values.REMORA_PUBLIC_URL,
    publisherUrl: values.REMORA_PUBLISHER_URL,
    mayInstallRedis: values.REMORA_REDIS_INSTALL === 'auto',
    searchPath: values.PATH,
    sandbox: { ...sandboxConfig(values), searchPath: values.PATH, env: bareEnv(settings.own) },
    allowsSetups: values.REMORA_SETUP !== 'off',
    color: colorOf(values),
    agentsDir: values.REMORA_AGENTS_DIR === undefined ? undefined : resolve(cwd, values.REMORA_AGENTS_DIR),
    /** Changes what discovery makes of the bundles. */
    bundles: { mapping: values.REMORA_AGENTS_MAPPING, settings: values.REMORA_AGENTS_SETTINGS },
    apiPort: values.REMORA_API_PORT,
    request: requestOf(values),
    discovery: {
      exclude: values.REMORA_DISCOVERY_EXCLUDE,
      maxFileBytes: values.REMORA_MAX_FILE_BYTES,
      threads: values.REMORA_DISCOVERY_THREADS,
    },
    queries: {
      name: values.REMORA_QUERY_PACK,
      ...(queriesDir === undefined ? {} : { userDir: resolve(cwd, queriesDir) }),
    },
    environment: env,
    settings,
    /** Locates the stores of a running service, for `verify`. */
    storage: givenValue(env, 'REMORA_REDIS_URL') === undefined ? undefined : storageConfig(readEnv(storageEnv, env)),
  }
}

function githubOf(values: CliValues) {
  return {
    appId: values.REMORA_GITHUB_APP_ID,
    privateKey: values.REMORA_GITHUB_PRIVATE_KEY,
    webhookSecret: values.REMORA_GITHUB_WEBHOOK_SECRET,
    apiUrl: values.REMORA_GITHUB_API_URL.replace(/\/+$/, ''),
  }
}

function requestOf({ REMORA_PATHS, REMORA_LANGUAGES, REMORA_INCLUDE, ...values }: CliValues) {
  const unlessEmpty = <T>(list: T[]) => (list.length === 0 ? undefined : list)
  return {
    paths: unlessEmpty(REMORA_PATHS),
    languages: unlessEmpty(REMORA_LANGUAGES),
    include: unlessEmpty(REMORA_INCLUDE),
    errorPolicy: values.REMORA_ERROR_POLICY,
    verify: {
      command: values.REMORA_VERIFY,
      runs: values.REMORA_VERIFY_RUNS,
      max_runs: values.REMORA_VERIFY_MAX_RUNS,
      limit_s: values.REMORA_VERIFY_LIMIT_S,
    },
    setup: values.REMORA_SETUP_COMMAND,
    budgetTokens: values.REMORA_BUDGET_TOKENS || undefined,
  }
}

/** NO_COLOR (no-color.org) wins over everything, whatever its value. */
function colorOf(env: CliValues): 'never' | 'always' | 'terminal' {
  if (env.NO_COLOR !== undefined || env.TERM === 'dumb') return 'never'
  return env.FORCE_COLOR === undefined || env.FORCE_COLOR === '0' ? 'terminal' : 'always'
}

/** Returns a line for each value of the settings file that nothing reads. */
export function unservedSettings({ path, given }: Pick<Settings, 'path' | 'given'>, cwd: string): string[] {
  if (path === undefined) return []
  return given.flatMap(({ setting, line }) =>
    setting.unserved === undefined
      ? []
      : [`${shownPath(path, cwd)}:${line}: ${setting.path.join('.')} has no effect: ${setting.unserved}`],
  )
}
