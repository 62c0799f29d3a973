import { availableParallelism } from 'node:os'
import { z } from 'zod'
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

export type DiscoveryConfig = {
  /** The folder whose bundles runs may use. */
  agentsDir: string
  /** A folder of query packs that go before the built-in ones. */
  queriesDir: string | undefined
  threads: number
  healthPort: number
  /** A stage whose process fell silent for so long is given to another. */
  lockMs: number
  /** No other process works on these stores: what an earlier one left half-done is taken over at once. */
  isAlone: boolean
  storage: StorageConfig
  blobCacheBytes: number
  /** `everyMs` 0: another process does it, or nobody. */
  housekeeping: { everyMs: number; retentionMs: number; graceMs: number }
}

const daySeconds = 86_400
/** A stage computes for longer between two looks at its lock than an operation does. */
const leastLockMs = 10_000

const discoveryEnv = {
  ...storageEnv,
  REMORA_AGENTS_DIR: z.string().min(1).default('agents'),
  REMORA_QUERIES_DIR: z.string().optional(),
  /** 0: one per core. */
  REMORA_DISCOVERY_THREADS: z.coerce.number().int().min(0).max(256).default(0),
  REMORA_DISCOVERY_HEALTH_PORT: Port.default(8422),
  REMORA_LEASE_MS: z.coerce.number().int().min(1000).default(30_000),
  REMORA_BLOB_CACHE_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(32 * 1024 * 1024),
  REMORA_RETENTION_S: z.coerce
    .number()
    .int()
    .min(60)
    .default(7 * daySeconds),
  REMORA_HOUSEKEEPING_S: z.coerce.number().int().min(0).default(600),
  /** At least twice the hour for which a process counts on a blob it has put (core/objects/blob-store.ts). */
  REMORA_COLLECT_GRACE_S: z.coerce.number().int().min(7200).default(daySeconds),
}

/** The service's part of the environment. CONFIG_003 names every variable that is missing or wrong. */
export function parseConfig(env: Env): { discovery: DiscoveryConfig; logLevel: LogLevel; secrets: string[] } {
  const read = readEnv(discoveryEnv, env)
  const discovery: DiscoveryConfig = {
    agentsDir: read.REMORA_AGENTS_DIR,
    queriesDir: read.REMORA_QUERIES_DIR,
    threads: read.REMORA_DISCOVERY_THREADS === 0 ? availableParallelism() : read.REMORA_DISCOVERY_THREADS,
    healthPort: read.REMORA_DISCOVERY_HEALTH_PORT,
    lockMs: Math.max(leastLockMs, read.REMORA_LEASE_MS),
    isAlone: false,
    storage: storageConfig(read),
    blobCacheBytes: read.REMORA_BLOB_CACHE_BYTES,
    housekeeping: {
      everyMs: read.REMORA_HOUSEKEEPING_S * 1000,
      retentionMs: read.REMORA_RETENTION_S * 1000,
      graceMs: read.REMORA_COLLECT_GRACE_S * 1000,
    },
  }
  return { discovery, logLevel: read.REMORA_LOG_LEVEL, secrets: storageSecrets(read) }
}
