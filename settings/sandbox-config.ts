import type { z } from 'zod'
import { sandboxSettings } from './sandbox-settings.ts'
import { variablesOf } from './setting.ts'

const sandboxEnv = variablesOf(sandboxSettings, 'cli') // what every owner reads
type SandboxRead = z.infer<z.ZodObject<typeof sandboxEnv>>

const mebibyte = 1024 ** 2

export function sandboxConfig(read: SandboxRead) {
  return {
    runtime: read.REMORA_SANDBOX,
    bubblewrap: read.REMORA_SANDBOX_BUBBLEWRAP,
    image: read.REMORA_SANDBOX_IMAGE,
    paths: read.REMORA_SANDBOX_PATHS,
    places: read.REMORA_SANDBOX_PROGRAMS,
    limits: {
      wallMs: read.REMORA_SANDBOX_TIMEOUT_S * 1_000,
      memoryBytes: read.REMORA_SANDBOX_MEMORY_MB * mebibyte,
      diskBytes: read.REMORA_SANDBOX_DISK_MB * mebibyte,
      processes: read.REMORA_SANDBOX_PROCESSES,
    },
  }
}
