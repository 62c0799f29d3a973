import { randomBytes } from 'node:crypto'
import { readEnv, type Env } from '#platform/env.ts'
import { processName } from '#platform/log.ts'
import { modelConfig } from '#settings/model-config.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { storageConfig, storageSecrets } from '#settings/storage-settings.ts'
import { watchThresholds } from '#settings/watcher-settings.ts'

export type WatcherConfig = ReturnType<typeof parseConfig>['config']

/** The part of the environment that the watcher reads. CONFIG_003 names every variable that is wrong. */
export function parseConfig(env: Env) {
  const read = readEnv(environmentOf('watcher'), env)
  const model = modelConfig(read, env)
  const config = {
    /** Leases slots at the model servers by this name, and is the origin of its events. */
    watcherId: `watcher-${processName()}-${randomBytes(3).toString('hex')}`,
    health: { host: read.REMORA_HEALTH_HOST, port: read.REMORA_WATCHER_HEALTH_PORT },
    storage: storageConfig(read),
    model: { ...model, name: read.REMORA_WATCHER_MODEL ?? model.name },
    thresholds: watchThresholds(read),
  }
  const logging = { level: read.REMORA_LOG_LEVEL, format: read.REMORA_LOG_FORMAT }
  return { config, logging, secrets: [read.REMORA_MODEL_API_KEY ?? [], storageSecrets(read)].flat() }
}
