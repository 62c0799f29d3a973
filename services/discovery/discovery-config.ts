import { availableParallelism } from 'node:os'
import type { BundleChoices } from '#bundles/adjust-bundles.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { readEnv, type Env } from '#platform/env.ts'
import type { LogLevel } from '#platform/log.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { storageConfig, storageSecrets, type StorageConfig } from '#settings/storage-settings.ts'
import type { PackPlaces } from './discover/query-pack.ts'

export type DiscoveryConfig = {
  /** The folder whose bundles runs may use. */
  agentsDir: string
  bundles: BundleChoices
  /** What no run is worked on in; `exclude` are globs or folders. */
  leaveOut: { exclude: readonly string[]; maxFileBytes: number }
  /** Which query packs runs are read with. */
  queries: PackPlaces
  threads: number
  healthPort: number
  /** A stage whose process fell silent for so long is given to another. */
  lockMs: number
  /** No other process works on these stores: what an earlier one left half-done is taken over at once. */
  isAlone: boolean
  /** What answers the agents of an embedded stack: runs begun with another kind wait. */
  modelKind?: ModelKind | undefined
  storage: StorageConfig
  blobCacheBytes: number
  /** `everyMs` 0: this process does none. */
  housekeeping: { everyMs: number; retentionMs: number; graceMs: number }
}

/** A stage computes for longer between two looks at its lock than an operation does. */
const leastLockMs = 10_000

/** Discovery's configuration from the environment. CONFIG_003 names every variable that is wrong. */
export function parseConfig(env: Env): { discovery: DiscoveryConfig; logLevel: LogLevel; secrets: string[] } {
  const read = readEnv(environmentOf('discovery'), env)
  const { REMORA_QUERIES_DIR: userDir } = read
  const discovery: DiscoveryConfig = {
    agentsDir: read.REMORA_AGENTS_DIR,
    bundles: {
      mapping: read.REMORA_AGENTS_MAPPING,
      settings: read.REMORA_AGENTS_SETTINGS,
      maxTurns: read.REMORA_MAX_TURNS,
      maxTimeoutS: read.REMORA_MAX_TIMEOUT_S,
    },
    leaveOut: { exclude: read.REMORA_DISCOVERY_EXCLUDE, maxFileBytes: read.REMORA_MAX_FILE_BYTES },
    queries: { name: read.REMORA_QUERY_PACK, ...(userDir === undefined ? {} : { userDir }) },
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
