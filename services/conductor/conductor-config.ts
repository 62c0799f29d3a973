import { randomBytes } from 'node:crypto'
import { readEnv, type Env } from '#platform/env.ts'
import { processName } from '#platform/log.ts'
import { modelConfig } from '#settings/model-config.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { storageConfig, storageSecrets } from '#settings/storage-settings.ts'

export type ConductorConfig = ReturnType<typeof parseConfig>['config']

/** The part of the environment that a conductor reads. CONFIG_003 names every variable that is missing or wrong. */
export function parseConfig(env: Env) {
  const read = readEnv(environmentOf('conductor'), env)
  const model = modelConfig(read, env)
  const config = {
    /** Leases slots at the model servers by this name, and is the origin of its events. */
    conductorId: `conductor-${processName()}-${randomBytes(3).toString('hex')}`,
    health: { host: read.REMORA_HEALTH_HOST, port: read.REMORA_CONDUCTOR_HEALTH_PORT },
    model: { ...model, name: read.REMORA_CONDUCTOR_MODEL ?? model.name },
    /** Names the model that answers what people ask about runs. */
    chatModel: read.REMORA_CHAT_MODEL ?? read.REMORA_CONDUCTOR_MODEL ?? model.name,
    storage: storageConfig(read),
    leaseMs: read.REMORA_LEASE_MS,
    awayLimitMs: read.REMORA_MODEL_AWAY_LIMIT_S * 1000,
  }
  const logging = { level: read.REMORA_LOG_LEVEL, format: read.REMORA_LOG_FORMAT }
  const secrets = [read.REMORA_MODEL_API_KEY ?? [], storageSecrets(read)].flat()
  return { config, logging, secrets, instance: config.conductorId }
}
