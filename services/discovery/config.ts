import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { BundleMapping, BundleSettings, type BundleChoices } from '#bundles/adjust-bundles.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import {
  CommaList,
  JsonText,
  Port,
  readEnv,
  storageConfig,
  storageSecrets,
  storageEnv,
  type Env,
  type StorageConfig,
} from '#platform/env.ts'
import type { LogLevel } from '#platform/log.ts'
import type { PackPlaces } from './discover/query-pack.ts'
import { packEnv, packPlaces } from './pack-places.ts'

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
  /** `everyMs` 0: another process does it, or nobody. */
  housekeeping: { everyMs: number; retentionMs: number; graceMs: number }
}

const daySeconds = 86_400
/** A stage computes for longer between two looks at its lock than an operation does. */
const leastLockMs = 10_000

export const discoveryEnv = {
  ...storageEnv,
  REMORA_AGENTS_DIR: z
    .string()
    .min(1)
    .default('agents')
    .describe('bundles are loaded and checked at start (AGENT_001)'),
  REMORA_AGENTS_MAPPING: JsonText.pipe(BundleMapping)
    .prefault('{}')
    .describe('JSON: per bundle `node_kinds` and `priority` instead of its own'),
  REMORA_AGENTS_SETTINGS: JsonText.pipe(BundleSettings)
    .prefault('{}')
    .describe('JSON: per bundle values for its settings'),
  REMORA_MAX_TURNS: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe("the most turns of an attempt, whatever its bundle's limit"),
  REMORA_MAX_TIMEOUT_S: z.coerce
    .number()
    .positive()
    .max(86_400)
    .optional()
    .describe("the most seconds of an attempt, whatever its bundle's limit"),
  REMORA_DISCOVERY_EXCLUDE: CommaList.superRefine((globs, context) => {
    const fault = faultOfGlobs(globs)
    if (fault !== undefined) context.addIssue(fault)
  })
    .prefault('')
    .describe('globs or folders that are never worked on, separated by commas'),
  REMORA_MAX_FILE_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .max(64_000_000)
    .default(1_000_000)
    .describe('larger files are passed over'),
  ...packEnv,
  /** 0: one per core. */
  REMORA_DISCOVERY_THREADS: z.coerce
    .number()
    .int()
    .min(0)
    .max(256)
    .default(0)
    .describe('parsing threads; 0: one per core'),
  REMORA_DISCOVERY_HEALTH_PORT: Port.default(8422).describe('`/healthz`, `/readyz`'),
  REMORA_LEASE_MS: z.coerce
    .number()
    .int()
    .min(1000)
    .max(3_600_000)
    .default(30_000)
    .describe(
      'how long a process may be silent before its snapshot or discovery goes to another; at least 10 s here. The same on all workers and discoveries',
    ),
  REMORA_BLOB_CACHE_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(4 * 1024 * 1024)
    .describe('contents kept in memory'),
  REMORA_RETENTION_S: z.coerce
    .number()
    .int()
    .min(60)
    .default(7 * daySeconds)
    .describe('an ended run is forgotten after so many seconds'),
  REMORA_HOUSEKEEPING_S: z.coerce
    .number()
    .int()
    .min(0)
    .max(7 * daySeconds)
    .default(600)
    .describe(
      'how often ended runs are looked for; 0: this process does not. Unreferenced objects are collected at most once an hour, by one process at a time',
    ),
  /** At least twice the hour for which a process counts on a blob it has put (core/objects/blob-store.ts). */
  REMORA_COLLECT_GRACE_S: z.coerce
    .number()
    .int()
    .min(7200)
    .default(daySeconds)
    .describe('an object put within so many seconds is never collected; it must be longer than the longest run'),
}

/** The service's part of the environment. CONFIG_003 names every variable that is missing or wrong. */
export function parseConfig(env: Env): { discovery: DiscoveryConfig; logLevel: LogLevel; secrets: string[] } {
  const read = readEnv(discoveryEnv, env)
  const discovery: DiscoveryConfig = {
    agentsDir: read.REMORA_AGENTS_DIR,
    bundles: {
      mapping: read.REMORA_AGENTS_MAPPING,
      settings: read.REMORA_AGENTS_SETTINGS,
      maxTurns: read.REMORA_MAX_TURNS,
      maxTimeoutS: read.REMORA_MAX_TIMEOUT_S,
    },
    leaveOut: { exclude: read.REMORA_DISCOVERY_EXCLUDE, maxFileBytes: read.REMORA_MAX_FILE_BYTES },
    queries: packPlaces(read),
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
