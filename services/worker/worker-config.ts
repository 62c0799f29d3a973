import { randomBytes } from 'node:crypto'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Env, readEnv } from '#platform/env.ts'
import { modelConfig } from '#settings/model-config.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { bareEnv } from '#platform/child-env.ts'
import { sandboxConfig } from '#settings/sandbox-config.ts'
import { storageConfig, storageSecrets } from '#settings/storage-settings.ts'
import { traceConfig, traceSecrets } from '#settings/trace-settings.ts'

export type WorkerConfig = ReturnType<typeof parseConfig>['config']

const workerEnv = environmentOf('worker')

/** A worker with at most so many slots takes as little memory as it can; one with more spends memory to save CPU. */
const fewSlots = 16

/** The worker's part of the environment. CONFIG_003 names every variable that is missing or wrong. */
export function parseConfig(env: Env) {
  const read = readEnv(workerEnv, env)
  const isSmall = read.REMORA_WORKER_SLOTS <= fewSlots
  const config = {
    /** Unique among all workers: the slots of the fleet are counted by it. */
    workerId: read.REMORA_WORKER_ID ?? newWorkerId(hostname()),
    slots: read.REMORA_WORKER_SLOTS,
    isSmall,
    scriptProcesses: read.REMORA_WORKER_SCRIPT_PROCESSES ?? (isSmall ? 1 : 2),
    health: { host: read.REMORA_HEALTH_HOST, port: read.REMORA_WORKER_HEALTH_PORT },
    model: { ...modelConfig(read, env), toolGuide: read.REMORA_MODEL_TOOL_GUIDE },
    storage: storageConfig(read),
    traces: { ...traceConfig(read), operations: read.REMORA_TRACES_OPERATIONS },
    blobCacheBytes: read.REMORA_BLOB_CACHE_BYTES ?? Math.min(4 * read.REMORA_WORKER_SLOTS, 256) * 1024 ** 2,
    /** Limits the characters of Python texts whose facts and trees it keeps, which take 27 and 37 bytes for each. */
    cachedLength: isSmall ? 2_000_000 : 4_000_000,
    /** Says how long the thread that composes runs lives on after a run: its start takes a second of CPU. */
    composerIdleMs: isSmall ? 10_000 : 60_000,
    sandbox: {
      ...sandboxConfig(read),
      searchPath: env['PATH'] ?? '',
      env: bareEnv(env),
      gateLimitS: read.REMORA_GATE_LIMIT_S,
      deferAfterMs: read.REMORA_SANDBOX_DEFER_AFTER_S * 1_000,
    },
    environments: {
      dir: read.REMORA_ENVIRONMENTS_DIR ?? join(tmpdir(), `remora-environments-${process.getuid?.() ?? 'user'}`),
      keptBytes: read.REMORA_ENVIRONMENTS_MB * 1024 ** 2,
    },
    drainMs: read.REMORA_DRAIN_MS,
    leaseMs: read.REMORA_LEASE_MS,
    logging: { level: read.REMORA_LOG_LEVEL, format: read.REMORA_LOG_FORMAT },
  }
  const secrets = [read.REMORA_MODEL_API_KEY ?? [], storageSecrets(read), traceSecrets(read)].flat()
  return { config, logging: config.logging, secrets, instance: config.workerId, closeMs: config.drainMs + 10_000 }
}

/** Has at most 64 characters; its end is random, since containers share process ids, and copies of a host its name. */
export function newWorkerId(host: string): string {
  const [name = ''] = host.split('.')
  const plain = name.replaceAll(/[^\w-]/g, '-').slice(0, 40)
  return `worker-${plain}-${process.pid}-${randomBytes(3).toString('hex')}`
}
