import { availableParallelism } from 'node:os'
import type { BundleChoices } from '#bundles/adjust-bundles.ts'
import { AppError } from '#domain/error.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { proxyOf, readEnv, type Env } from '#platform/env.ts'
import { namedModelKind } from '#settings/model-settings.ts'
import { environmentOf } from '#settings/settings-table.ts'
import type { PackPlaces } from '#stages/discover/query-pack.ts'
import { storageConfig, storageSecrets } from '#settings/storage-settings.ts'
import { traceConfig, traceSecrets } from '#settings/trace-settings.ts'

/** The settings table says what the settings mean. */
export type DiscoveryConfig = Omit<ReturnType<typeof parseConfig>['config'], 'bundles' | 'modelKind'> & {
  modelKind?: ModelKind | undefined
  bundles: BundleChoices
}

/** A stage computes for longer than an operation before it can renew its lock. */
const leastLockMs = 10_000

/** Discovery's configuration from the environment. CONFIG_003 names every variable that is wrong. */
export function parseConfig(env: Env) {
  const read = readEnv(environmentOf('discovery'), env)
  const { REMORA_QUERIES_DIR: userDir } = read
  const queries: PackPlaces = { name: read.REMORA_QUERY_PACK, ...(userDir === undefined ? {} : { userDir }) }
  const config = {
    agentsDir: read.REMORA_AGENTS_DIR,
    /** Runs begun with another kind of model wait. */
    modelKind: namedModelKind(read.REMORA_MODEL_URLS),
    bundles: {
      mapping: read.REMORA_AGENTS_MAPPING,
      settings: read.REMORA_AGENTS_SETTINGS,
      maxTurns: read.REMORA_MAX_TURNS,
      maxTimeoutS: read.REMORA_MAX_TIMEOUT_S,
    },
    leaveOut: { exclude: read.REMORA_DISCOVERY_EXCLUDE, maxFileBytes: read.REMORA_MAX_FILE_BYTES },
    queries,
    searchPath: env['PATH'] ?? '',
    setups: read.REMORA_SETUP,
    threads: read.REMORA_DISCOVERY_THREADS === 0 ? availableParallelism() : read.REMORA_DISCOVERY_THREADS,
    health: { host: read.REMORA_HEALTH_HOST, port: read.REMORA_DISCOVERY_HEALTH_PORT },
    /** A stage whose process is silent for this long is given to another process. */
    lockMs: Math.max(leastLockMs, read.REMORA_LEASE_MS),
    /** No other process works on these stores: what an earlier one left half-done is taken over at once. */
    isAlone: false,
    storage: storageConfig(read),
    traces: traceConfig(read),
    codeHost: { publisher: publisherOf(read), proxy: proxyOf(env) },
    maxUploadBytes: read.REMORA_MAX_UPLOAD_BYTES,
    blobCacheBytes: read.REMORA_BLOB_CACHE_BYTES,
    awayLimitMs: read.REMORA_MODEL_AWAY_LIMIT_S * 1000,
    told: { most: read.REMORA_STREAM_RANGES, keepMs: read.REMORA_RETENTION_S * 1000 },
    housekeeping: {
      everyMs: read.REMORA_HOUSEKEEPING_S * 1000,
      retentionMs: read.REMORA_RETENTION_S * 1000,
      graceMs: read.REMORA_COLLECT_GRACE_S * 1000,
    },
  }
  const logging = { level: read.REMORA_LOG_LEVEL, format: read.REMORA_LOG_FORMAT }
  const publisherSecret = read.REMORA_PUBLISHER_SECRET === undefined ? [] : [read.REMORA_PUBLISHER_SECRET]
  const secrets = [...storageSecrets(read), ...traceSecrets(read), ...publisherSecret]
  return { config, logging, secrets }
}

type Publisher = { REMORA_PUBLISHER_URL?: string | undefined; REMORA_PUBLISHER_SECRET?: string | undefined }

function publisherOf({ REMORA_PUBLISHER_URL: url, REMORA_PUBLISHER_SECRET: secret }: Publisher) {
  if (url === undefined) return undefined
  if (secret !== undefined) return { url, secret }
  throw new AppError('CONFIG_003', 'bad environment: REMORA_PUBLISHER_SECRET: is needed with REMORA_PUBLISHER_URL')
}
