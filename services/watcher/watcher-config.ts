import { readEnv, type Env } from '#platform/env.ts'
import { modelAccess } from '#settings/model-access.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { storageConfig, storageSecrets } from '#settings/storage-settings.ts'
import { watchThresholds } from '#settings/watcher-settings.ts'

export type WatcherConfig = ReturnType<typeof parseConfig>['watcher']

/** The part of the environment that the watcher reads. CONFIG_003 names every variable that is wrong. */
export function parseConfig(env: Env) {
  const read = readEnv(environmentOf('watcher'), env)
  const watcher = {
    health: { host: read.REMORA_HEALTH_HOST, port: read.REMORA_WATCHER_HEALTH_PORT },
    storage: storageConfig(read),
    model: modelAccess(read, env),
    /** The model of the role, which is `default` for that of `model`. */
    role: read.REMORA_WATCHER_MODEL,
    thresholds: watchThresholds(read),
  }
  const logging = { level: read.REMORA_LOG_LEVEL, format: read.REMORA_LOG_FORMAT }
  return { watcher, logging, secrets: [read.REMORA_MODEL_API_KEY ?? [], storageSecrets(read)].flat() }
}
