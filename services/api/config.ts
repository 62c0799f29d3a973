import { z } from 'zod'
import { sha256 } from '#domain/hash.ts'
import { defaultProject } from '#domain/ids.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import {
  Port,
  readEnv,
  storageConfig,
  storageSecrets,
  storageEnv,
  type Env,
  type StorageConfig,
} from '#platform/env.ts'
import type { LogLevel } from '#platform/log.ts'
import type { AccessToken } from './http/auth.ts'

export type ApiConfig = {
  host: string
  port: number
  tokens: readonly AccessToken[]
  /** The folder whose bundles a request may name. */
  agentsDir: string
  maxUploadBytes: number
  /** Archives taken in at once; each holds up to 24 MiB in memory. */
  maxUploads: number
  /** Of one token, lasting; five times as many at once. 0: no limit. */
  requestsPerSecond: number
  maxConnections: number
  /** Above this share of Redis' memory no new run is accepted. */
  redisMemoryShare: number
  /** Whether transcripts show the prompts' texts. */
  fullPrompts: boolean
  storage: StorageConfig
  /** What answers the agents of an embedded stack, which it notes on its runs. */
  modelKind?: ModelKind | undefined
  /** Prefix of the ledger's keys and of the queues. */
  namespace?: string
}

export const apiEnv = {
  ...storageEnv,
  REMORA_TOKEN: z
    .string()
    .min(16, 'at least 16 characters')
    .describe('secret: the bearer token, at least 16 characters'),
  REMORA_API_HOST: z.string().default('127.0.0.1').describe('where it listens'),
  REMORA_API_PORT: Port.default(8420).describe('0 takes a free port'),
  REMORA_AGENTS_DIR: z.string().default('agents').describe('the folder whose bundles a request may name'),
  REMORA_MAX_UPLOAD_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(1024 * 1024 * 1024)
    .describe('larger archives are refused (INTAKE_003)'),
  REMORA_MAX_UPLOADS: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(8)
    .describe('archives taken in at once; each holds up to 24 MiB in memory'),
  REMORA_REQUESTS_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .max(100_000)
    .default(100)
    .describe('of one token, lasting; five times as many at once. 0: no limit'),
  REMORA_MAX_CONNECTIONS: z.coerce.number().int().min(10).max(100_000).default(1000).describe('open at once'),
  REMORA_REDIS_MEMORY_SHARE: z.coerce
    .number()
    .gt(0)
    .max(1)
    .default(0.8)
    .describe(
      "above this share of Redis' memory (more than 0, at most 1) no run and no retry is accepted (503 STORE_001)",
    ),
  REMORA_FULL_PROMPTS: z
    .stringbool()
    .prefault('true')
    .describe('`false`: transcripts say how long the prompts were instead of showing them'),
}

/** The service's part of the environment. CONFIG_003 names every variable that is missing or wrong. */
export function parseConfig(env: Env): { api: ApiConfig; logLevel: LogLevel; secrets: string[] } {
  const read = readEnv(apiEnv, env)
  return {
    api: {
      host: read.REMORA_API_HOST,
      port: read.REMORA_API_PORT,
      tokens: [accessToken(read.REMORA_TOKEN)],
      agentsDir: read.REMORA_AGENTS_DIR,
      maxUploadBytes: read.REMORA_MAX_UPLOAD_BYTES,
      maxUploads: read.REMORA_MAX_UPLOADS,
      requestsPerSecond: read.REMORA_REQUESTS_PER_SECOND,
      maxConnections: read.REMORA_MAX_CONNECTIONS,
      redisMemoryShare: read.REMORA_REDIS_MEMORY_SHARE,
      fullPrompts: read.REMORA_FULL_PROMPTS,
      storage: storageConfig(read),
    },
    logLevel: read.REMORA_LOG_LEVEL,
    secrets: [read.REMORA_TOKEN ?? [], storageSecrets(read)].flat(),
  }
}

/** A token as the service keeps it: its hash, and the one project there is until projects can be created. */
export function accessToken(token: string, projectId: string = defaultProject): AccessToken {
  return { hash: sha256(token), projectId }
}
