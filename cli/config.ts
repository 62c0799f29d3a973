import { resolve } from 'node:path'
import { z } from 'zod'
import { LogLevelName, readEnv, storageConfig, storageEnv, type Env, type StorageConfig } from '#platform/env.ts'
import type { LogLevel } from '#platform/log.ts'
import { isHttpUrl, isModelServers } from './model-server.ts'

const text = z.string().optional()

const ModelServers = z
  .string()
  .refine((value) => value === '' || isModelServers(value), {
    error: 'must be "rehearsal", or http(s) URLs of model servers, such as http://host:8000/v1, separated by commas',
  })
  .optional()

const shape = {
  REMORA_API_URL: z
    .string()
    .refine((value) => value === '' || isHttpUrl(value), {
      error: 'must be the http(s) URL of a service, such as http://localhost:8420',
    })
    .default(''),
  REMORA_TOKEN: z
    .string()
    .regex(/^[\x21-\x7E]*$/, 'must be a token as "remora up" prints it, without spaces')
    .optional(),
  REMORA_DATA_DIR: z.string().min(1).default('.remora'),
  REMORA_LOG_LEVEL: LogLevelName.default('info'),
  REMORA_MODEL: text,
  REMORA_MODEL_URLS: ModelServers,
  REMORA_MODEL_API_KEY: text,
  REMORA_REDIS_INSTALL: z.enum(['auto', 'never']).default('auto'),
  PATH: z.string().default(''),
  NO_COLOR: text,
  FORCE_COLOR: text,
  TERM: text,
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
  /** Whether an embedded stack may get a Redis that is not there. */
  mayInstallRedis: boolean
  /** PATH. */
  searchPath: string
  color: 'never' | 'always' | 'terminal'
  /** Redis and S3 of a running service, for `verify`; undefined unless REMORA_REDIS_URL is set. */
  storage: StorageConfig | undefined
}

/** The command line's slice of the environment. CONFIG_003 names every bad variable. */
export function readCliConfig(env: Env): CliConfig {
  const values = readEnv(shape, env)
  const redisUrl = env['REMORA_REDIS_URL'] ?? ''
  return {
    apiUrl: given(values.REMORA_API_URL)?.replace(/\/+$/, ''),
    token: given(values.REMORA_TOKEN),
    dataDir: resolve(values.REMORA_DATA_DIR),
    logLevel: values.REMORA_LOG_LEVEL,
    modelUrls: given(values.REMORA_MODEL_URLS),
    modelName: given(values.REMORA_MODEL),
    modelApiKey: given(values.REMORA_MODEL_API_KEY),
    mayInstallRedis: values.REMORA_REDIS_INSTALL === 'auto',
    searchPath: values.PATH,
    color: colorOf(values),
    storage: redisUrl === '' ? undefined : storageConfig(readEnv(storageEnv, env)),
  }
}

/** An empty variable counts as unset, as in most programs. */
function given(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value
}

/** NO_COLOR (no-color.org) wins over everything, whatever its value. */
function colorOf(env: { NO_COLOR?: string | undefined; FORCE_COLOR?: string | undefined; TERM?: string | undefined }) {
  if (given(env.NO_COLOR) !== undefined || env.TERM === 'dumb') return 'never'
  return given(env.FORCE_COLOR) === undefined || env.FORCE_COLOR === '0' ? 'terminal' : 'always'
}
