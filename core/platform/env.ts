import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import { RedisUrl } from './redis-url.ts'

/** The environment as `process.env` gives it; read in `main.ts` files only. */
export type Env = Readonly<Record<string, string | undefined>>

/** A TCP port; 0 lets the system choose one. */
export const Port = z.coerce.number().int().min(0).max(65535)

export const LogLevelName = z.enum(['debug', 'info', 'warn', 'error', 'silent'])

/** A comma-separated list without empty entries. */
export const CommaList = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
)

/** A variable that holds JSON. */
export const JsonText = z.string().transform((text, context) => {
  const value = parseJson(text)
  if (value !== undefined) return value
  context.addIssue('not JSON')
  return z.NEVER
})

/** What every service needs to reach Redis and the object store (contract.md §5). */
export const storageEnv = {
  REMORA_REDIS_URL: RedisUrl.default('redis://127.0.0.1:6379').describe(
    'Redis ≥ 7 or Valkey, one server or a cluster; set `maxmemory`, `maxmemory-policy noeviction` and `appendonly yes`',
  ),
  REMORA_S3_ENDPOINT: z.url().optional().describe('an S3-compatible server; without it AWS'),
  REMORA_S3_BUCKET: z.string().min(3).default('remora').describe('it must exist'),
  REMORA_S3_REGION: z.string().default('us-east-1').describe('of the bucket'),
  AWS_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe('of the object store; without keys they are found as the AWS SDK finds them'),
  AWS_SECRET_ACCESS_KEY: z.string().optional().describe('secret'),
  AWS_SESSION_TOKEN: z
    .string()
    .optional()
    .describe('secret; belongs to temporary keys, which are not renewed: for keys that change leave all three empty'),
  REMORA_LOG_LEVEL: LogLevelName.default('info').describe(
    '`debug`, `info`, `warn`, `error`, `silent`; JSON lines on stderr',
  ),
}

export type StorageConfig = {
  redisUrl: string
  s3: {
    endpoint: string | undefined
    bucket: string
    region: string
    /** Temporary ones have a session token. Undefined: found as the AWS SDK finds them. */
    credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined
  }
}

type StorageEnv = z.infer<z.ZodObject<typeof storageEnv>>

/** Typed slice of the storage variables. */
export function storageConfig(env: StorageEnv): StorageConfig {
  return {
    redisUrl: env.REMORA_REDIS_URL,
    s3: {
      endpoint: env.REMORA_S3_ENDPOINT,
      bucket: env.REMORA_S3_BUCKET,
      region: env.REMORA_S3_REGION,
      credentials: credentialsOf(env),
    },
  }
}

/** What of the storage variables must never be logged. */
export function storageSecrets(env: StorageEnv): string[] {
  return [env.AWS_SECRET_ACCESS_KEY, env.AWS_SESSION_TOKEN].filter((secret) => secret !== undefined)
}

function credentialsOf(env: StorageEnv): StorageConfig['s3']['credentials'] {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
}

/** A variable's value. An empty or blank one counts as unset, as deployments pass on what they do not have. */
export function givenValue(env: Env, name: string): string | undefined {
  const value = env[name]
  return value?.trim() === '' ? undefined : value
}

/** A text that is no number is NaN once it is read, which tells a person nothing. */
function wordsOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_type' && issue.expected === 'number' ? 'must be a number' : issue.message
}

/** Reads the variables `shape` names, as far as they are given. CONFIG_003 names every bad one in a single error. */
export function readEnv<Shape extends z.ZodRawShape>(shape: Shape, env: Env): z.infer<z.ZodObject<Shape>> {
  const values = Object.fromEntries(Object.keys(shape).map((name) => [name, givenValue(env, name)]))
  const parsed = z.object(shape).safeParse(values)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${wordsOf(issue)}`)
  throw new AppError('CONFIG_003', `bad environment: ${faults.join('; ')}`)
}
