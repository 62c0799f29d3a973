import { z } from 'zod'
import { holdsSecret } from '#platform/hide-secrets.ts'
import type { SettingsTable } from './setting.ts'

const megabytes = z.int().min(16).max(1_000_000)
const registry = z
  .string()
  .regex(
    /^(?:https?:\/\/[^\s,@]+|[\w.-]+(?::\d{1,5})?|\[[\da-f:]+\](?::\d{1,5})?)$/i,
    'must be a host, host:port or http(s) URL',
  )

/** Go gets modules from the first, and looks up their checksums at the second. */
export const goModules = ['proxy.golang.org', 'sum.golang.org'] as const

export const setupSettings = {
  REMORA_SETUP: {
    key: 'setup.mode',
    owners: ['api', 'discovery', 'setup', 'publisher', 'cli'],
    type: z.enum(['off', 'asked', 'on']),
    default: 'off',
    about:
      'whether runs may have a setup, a command that installs what the programs of the repository need: `asked` allows those that a request names, `on` also those of bundles; the services of `remora run --setup` have at least `asked`',
  },
  REMORA_SETUP_COMMAND: {
    key: 'setup.command',
    owners: ['cli'],
    type: z.string().min(1).max(1_000),
    about: 'the setup of a run that names none with `--setup`, such as `pip install -e .[test]` or `npm ci`',
  },
  REMORA_SETUP_REGISTRIES: {
    key: 'setup.registries',
    owners: ['setup'],
    type: z.array(registry),
    default: ['pypi.org', 'files.pythonhosted.org', 'registry.npmjs.org', ...goModules],
    about:
      'the only hosts that a setup reaches: hosts (port 443), `host:port`, or URLs. One whose name leads to an address of a private network is refused',
  },
  REMORA_SETUP_INTERNAL_REGISTRIES: {
    key: 'setup.internal_registries',
    owners: ['setup'],
    type: z.array(registry),
    default: [],
    about: 'more of them, of your own network: their addresses may be private',
  },
  REMORA_SETUP_VARIABLES: {
    key: 'setup.variables',
    owners: ['setup'],
    type: z
      .record(z.string().regex(/^[A-Za-z_]\w*$/), z.string())
      .refine((values) => !Object.values(values).some(holdsSecret), 'holds a secret, which the repository would read'),
    default: {},
    about:
      'variables that a setup finds in its environment, such as `PIP_INDEX_URL` and `npm_config_registry`; every program of the repository can read them',
  },
  REMORA_SETUP_MEMORY_MB: {
    key: 'setup.memory_mb',
    owners: ['setup'],
    type: megabytes,
    default: 2_048,
    about: 'memory of a setup with all that it starts, without files, in MiB',
  },
  REMORA_SETUP_DISK_MB: {
    key: 'setup.disk_mb',
    owners: ['setup'],
    type: megabytes,
    default: 2_048,
    about:
      'the most MiB that a setup has in its working folder, in the environment that it makes and in /tmp, each; all are in memory. Also the most that its result may have',
  },
  REMORA_SETUP_TIMEOUT_S: {
    key: 'setup.timeout_s',
    owners: ['setup'],
    type: z.number().positive().max(86_400),
    default: 900,
    about: 'the most seconds that a setup may run',
  },
  REMORA_SETUP_PROCESSES: {
    key: 'setup.processes',
    owners: ['setup'],
    type: z.int().min(1).max(4_096),
    default: 512,
    about: 'the most processes and threads of a setup',
  },
  REMORA_SETUP_DOWNLOAD_MB: {
    key: 'setup.download_mb',
    owners: ['setup'],
    type: megabytes,
    default: 2_048,
    about: 'the most MiB that a setup may download',
  },
  REMORA_ENVIRONMENTS_DIR: {
    key: 'setup.environments_dir',
    owners: ['worker'],
    type: z.string().regex(/^\//, 'must be an absolute path'),
    isFolder: true,
    about:
      'where workers of this machine keep the results of setups, unpacked; without it `remora-environments-<user>` in the temporary folder',
  },
  REMORA_ENVIRONMENTS_MB: {
    key: 'setup.environments_mb',
    owners: ['worker'],
    type: megabytes,
    default: 8_192,
    about:
      'how many MiB of them are kept; those that no program has used for longest are removed, after an hour at the earliest',
  },
} satisfies SettingsTable
