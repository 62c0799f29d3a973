import { z } from 'zod'
import type { SettingsTable } from './setting.ts'

const megabytes = z.int().min(16).max(1_000_000)

export const sandboxSettings = {
  REMORA_SANDBOX: {
    key: 'sandbox.runtime',
    owners: ['worker', 'cli', 'setup'],
    type: z.enum(['auto', 'bubblewrap', 'container', 'none']),
    default: 'auto',
    about:
      'what programs of a repository run in: `auto` takes bubblewrap where that works, else a container where `sandbox.image` is set; `none` runs no program, so that agents that need one have nothing to do',
  },
  REMORA_SANDBOX_BUBBLEWRAP: {
    owners: ['worker', 'cli', 'setup'],
    type: z.string().min(1),
    setByStack: true,
    about: 'the path of bubblewrap (`bwrap`); without it the one on the PATH',
  },
  REMORA_SANDBOX_IMAGE: {
    key: 'sandbox.image',
    owners: ['worker', 'cli'],
    type: z.string().regex(/^[a-z0-9][\w./:@-]*$/, 'must be the name of an image, such as remora-sandbox:1'),
    about:
      'the image for programs in containers, which Podman or Docker has on this machine; it is never pulled (infra/sandbox.Dockerfile makes one)',
  },
  REMORA_SANDBOX_MEMORY_MB: {
    key: 'sandbox.memory_mb',
    owners: ['worker', 'cli'],
    type: megabytes,
    default: 512,
    about: 'memory of one program with all that it starts, without files, in MiB',
  },
  REMORA_SANDBOX_DISK_MB: {
    key: 'sandbox.disk_mb',
    owners: ['worker', 'cli'],
    type: megabytes,
    default: 512,
    about:
      'the most MiB that one program finds and writes in its working folder, and as many in /tmp; both are in memory',
  },
  REMORA_SANDBOX_TIMEOUT_S: {
    key: 'sandbox.timeout_s',
    owners: ['worker', 'cli'],
    type: z.number().positive().max(86_400),
    default: 60,
    about: 'the most seconds that one program may run',
  },
  REMORA_SANDBOX_DEFER_AFTER_S: {
    key: 'sandbox.defer_after_s',
    owners: ['worker'],
    type: z.number().positive().max(86_400),
    default: 20,
    about:
      'a program that a tool runs for longer than these seconds goes on without a slot for its operation, which waits for it',
  },
  REMORA_SANDBOX_PROCESSES: {
    key: 'sandbox.processes',
    owners: ['worker', 'cli'],
    type: z.int().min(1).max(4_096),
    default: 128,
    about: 'the most processes and threads of one program',
  },
  REMORA_SANDBOX_PROGRAMS: {
    key: 'sandbox.programs',
    owners: ['worker', 'cli'],
    type: z.int().min(1).max(256),
    about: 'programs that one worker runs at once; without it one for each core',
  },
  REMORA_GATE_LIMIT_S: {
    key: 'sandbox.gate_limit_s',
    owners: ['worker'],
    type: z.number().positive().max(86_400),
    default: 1_800,
    about:
      "the most seconds of a run's gate, whatever its request says: a worker composes one run at a time, and others wait for it",
  },
  REMORA_SANDBOX_PATHS: {
    key: 'sandbox.paths',
    owners: ['worker', 'cli', 'setup'],
    type: z.array(z.string().regex(/^\/[^,]+$/, 'must be an absolute path without a comma')),
    default: [],
    about: 'folders of the machine that programs may read besides /usr, such as an interpreter in /opt',
  },
} satisfies SettingsTable
