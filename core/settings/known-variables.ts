import { nearest } from '#platform/nearest.ts'
import { settingVariables } from './load-settings.ts'

/** Variables that are no settings of the file: secrets, addresses of this machine, and what deployments alone decide. */
const otherVariables = [
  'REMORA_API_URL',
  'REMORA_BLOB_CACHE_BYTES',
  'REMORA_CONFIG',
  'REMORA_DATA_DIR',
  'REMORA_DISCOVERY_HEALTH_PORT',
  'REMORA_DRAIN_MS',
  'REMORA_HOUSEKEEPING_S',
  'REMORA_LEASE_MS',
  'REMORA_LOG_LEVEL',
  'REMORA_MAX_CONNECTIONS',
  'REMORA_MAX_UPLOADS',
  'REMORA_MAX_UPLOAD_BYTES',
  'REMORA_MODEL_API_KEY',
  'REMORA_MODEL_MAX_IN_FLIGHT',
  'REMORA_MODEL_RETRY_BUDGET_MS',
  'REMORA_REDIS_INSTALL',
  'REMORA_REDIS_MEMORY_SHARE',
  'REMORA_REHEARSAL_FAULTS',
  'REMORA_REHEARSAL_HOST',
  'REMORA_REHEARSAL_LATENCY_MS',
  'REMORA_REHEARSAL_PORT',
  'REMORA_REHEARSAL_REFUSES',
  'REMORA_REHEARSAL_SEED',
  'REMORA_REQUESTS_PER_SECOND',
  'REMORA_TOKEN',
  'REMORA_WORKER_HEALTH_PORT',
  'REMORA_WORKER_ID',
  'REMORA_WORKER_SCRIPT_PROCESSES',
]

export function knownVariables(): string[] {
  return [...settingVariables(), ...otherVariables].toSorted()
}

/** The variables of an environment that look like ours and are not, each with the known one that comes nearest. */
export function unknownVariables(names: readonly string[]): { name: string; nearest: string | undefined }[] {
  const known = knownVariables()
  const unknown = names.filter((name) => name.startsWith('REMORA_') && !known.includes(name))
  return unknown.map((name) => ({ name, nearest: nearest(name, known) }))
}
