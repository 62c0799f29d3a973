import { readEnv, type Env } from '#platform/env.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { storageConfig, storageSecrets } from '#settings/storage-settings.ts'

export type SetupConfig = ReturnType<typeof parseConfig>['config']

const mebibyte = 1024 ** 2

/** The part of the environment that the service of setups reads. CONFIG_003 names every variable that is wrong. */
export function parseConfig(env: Env) {
  const read = readEnv(environmentOf('setup'), env)
  const config = {
    health: { host: read.REMORA_HEALTH_HOST, port: read.REMORA_SETUP_HEALTH_PORT },
    storage: storageConfig(read),
    isolation: {
      sandbox: {
        // What a setup makes leaves the sandbox by a pipe that containers do not have.
        runtime: read.REMORA_SANDBOX === 'none' ? ('none' as const) : ('bubblewrap' as const),
        ...(read.REMORA_SANDBOX_BUBBLEWRAP === undefined ? {} : { bubblewrap: read.REMORA_SANDBOX_BUBBLEWRAP }),
        searchPath: env['PATH'] ?? '',
        paths: read.REMORA_SANDBOX_PATHS,
      },
      limits: {
        wallMs: read.REMORA_SETUP_TIMEOUT_S * 1_000,
        memoryBytes: read.REMORA_SETUP_MEMORY_MB * mebibyte,
        diskBytes: read.REMORA_SETUP_DISK_MB * mebibyte,
        processes: read.REMORA_SETUP_PROCESSES,
      },
      registries: read.REMORA_SETUP_REGISTRIES,
      internalRegistries: read.REMORA_SETUP_INTERNAL_REGISTRIES,
      variables: read.REMORA_SETUP_VARIABLES,
      maxDownloadBytes: read.REMORA_SETUP_DOWNLOAD_MB * mebibyte,
    },
  }
  const logging = { level: read.REMORA_LOG_LEVEL, format: read.REMORA_LOG_FORMAT }
  return { config, logging, secrets: storageSecrets(read) }
}
