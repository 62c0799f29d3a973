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
  storage: StorageConfig
  blobCacheBytes: number
}

const discoveryEnv = {
  ...storageEnv,
  REMORA_AGENTS_DIR: z.string().min(1).default('agents'),
  REMORA_QUERIES_DIR: z.string().optional(),
  /** 0: one per core. */
  REMORA_DISCOVERY_THREADS: z.coerce.number().int().min(0).max(256).default(0),
  REMORA_DISCOVERY_HEALTH_PORT: Port.default(8422),
  REMORA_BLOB_CACHE_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(128 * 1024 * 1024),
}

/** The service's part of the environment. CONFIG_003 names every variable that is missing or wrong. */
export function parseConfig(env: Env): { discovery: DiscoveryConfig; logLevel: LogLevel; secrets: string[] } {
  const read = readEnv(discoveryEnv, env)
  const discovery: DiscoveryConfig = {
    agentsDir: read.REMORA_AGENTS_DIR,
    queriesDir: read.REMORA_QUERIES_DIR,
    threads: read.REMORA_DISCOVERY_THREADS === 0 ? availableParallelism() : read.REMORA_DISCOVERY_THREADS,
    healthPort: read.REMORA_DISCOVERY_HEALTH_PORT,
    storage: storageConfig(read),
    blobCacheBytes: read.REMORA_BLOB_CACHE_BYTES,
  }
  return { discovery, logLevel: read.REMORA_LOG_LEVEL, secrets: storageSecrets(read) }
}
