import { basename, dirname } from 'node:path'
import { AppError } from '#domain/error.ts'
import { failureOf, findProgram, isSuccess, type Running, runProgram, runUnharmed } from './run-program.ts'

export type Installable = 'redis' | 'git' | 'bubblewrap' | 'podman' | 'docker'

export type Packaged = 'redis' | 'bubblewrap'

type PackagerKind = {
  program: string
  packages: Record<Packaged, readonly string[]>
  /** Is undefined where packages are not installed, but unpacked into a folder of the user (unpack-program.ts). */
  install?: (packageName: string) => readonly string[]
  environment?: readonly string[]
  /** Says whether installing a package needs root. `refused`: the program does not work as root. */
  root: 'needed' | 'refused'
  verb: string
  names: Record<Installable, string>
}

const usualNames = { git: 'git', bubblewrap: 'bubblewrap', podman: 'podman', docker: 'docker' }

const kinds: readonly PackagerKind[] = [
  {
    // redis-tools has the whole program, redis-server adds only a link to it and the service.
    program: 'apt-get',
    packages: { redis: ['redis-tools', 'valkey-tools'], bubblewrap: ['bubblewrap'] },
    root: 'needed',
    verb: 'apt-get install',
    names: { ...usualNames, redis: 'redis-server', docker: 'docker.io' },
  },
  {
    program: 'dnf',
    packages: { redis: ['valkey', 'redis'], bubblewrap: ['bubblewrap'] },
    install: (name) => ['install', '-y', '--setopt=timeout=10', '--setopt=retries=1', name],
    root: 'needed',
    verb: 'dnf install',
    names: { ...usualNames, redis: 'valkey', docker: 'moby-engine' },
  },
  {
    program: 'apk',
    packages: { redis: ['valkey', 'redis'], bubblewrap: ['bubblewrap'] },
    install: (name) => ['add', '--no-cache', '--timeout', '10', name],
    root: 'needed',
    verb: 'apk add',
    names: { ...usualNames, redis: 'redis' },
  },
  {
    program: 'brew',
    packages: { redis: ['redis'], bubblewrap: [] },
    install: (name) => ['install', '--quiet', name],
    environment: ['HOMEBREW_NO_AUTO_UPDATE=1', 'NONINTERACTIVE=1'],
    root: 'refused',
    verb: 'brew install',
    names: { ...usualNames, redis: 'redis', bubblewrap: 'docker' },
  },
]

export type Packager = {
  kind: PackagerKind
  byHand(wanted: Installable): string
  /** The folder of its programs, which may not be on the PATH. */
  folder: string
  /** The words before the program's name; undefined when it would ask for a password or refuses this user. */
  prefix: readonly string[] | undefined
  path: string
}

export type InstallOptions = Pick<Running, 'signal' | 'env'> & { searchPath: string; isRoot: boolean }

const sudoMs = 5_000
export const installMs = 300_000

export async function findPackager(options: InstallOptions): Promise<Packager | undefined> {
  for (const kind of kinds) {
    const path = await findProgram(kind.program, options.searchPath)
    if (path === undefined) continue
    const sudo = kind.root === 'needed' && !options.isRoot ? 'sudo ' : ''
    const byHand = (wanted: Installable) => `${sudo}${kind.verb} ${kind.names[wanted]}`
    return { kind, byHand, path, folder: dirname(path), prefix: await prefixFor(kind, options) }
  }
  return undefined
}

async function prefixFor(kind: PackagerKind, options: InstallOptions): Promise<readonly string[] | undefined> {
  const { searchPath, isRoot, signal, env } = options
  if (kind.root === 'refused' && isRoot) return undefined
  if (kind.install === undefined || kind.root === 'refused' || isRoot) return []
  const sudo = await findProgram('sudo', searchPath)
  if (sudo === undefined) return undefined
  const trial = await runProgram([sudo, '-n', 'true'], { limitMs: sudoMs, signal, env })
  return isSuccess(trial) ? [sudo, '-n'] : undefined
}

type Installing = Running & { logPath: string; wanted: Packaged }

/** Returns why it installed none. CONFIG_006 after `limitMs`: a package manager is not stopped halfway. */
export async function installPackage(packager: Packager, installing: Installing): Promise<string | undefined> {
  const { kind, prefix } = packager
  if (prefix === undefined) return `${kind.program} ${kind.root === 'refused' ? 'refuses root' : 'needs a password'}`
  let why = `${kind.program} installs nothing by itself`
  for (const name of kind.packages[installing.wanted]) {
    if (kind.install === undefined) break
    const end = await runUnharmed(commandOf(packager, prefix, kind.install(name)), installing)
    if (isSuccess(end)) return undefined
    if (end.kind === 'late') throw tooLate(kind.program, installing)
    why = `${basename(packager.path)} did not get it: ${failureOf(end)}`
  }
  return why
}

function tooLate(program: string, { limitMs, logPath }: Installing): AppError {
  return new AppError(
    'CONFIG_006',
    `${program} takes longer than ${limitMs / 1_000} s and continues in the background: wait until it has ended, then try again (its output is in ${logPath})`,
  )
}

function commandOf(
  packager: Packager,
  prefix: readonly string[],
  args: readonly string[],
): readonly [string, ...string[]] {
  const command = [...(packager.kind.environment ?? []), packager.path, ...args]
  const [sudo, ...sudoArgs] = prefix
  return sudo === undefined ? ['/usr/bin/env', ...command] : [sudo, ...sudoArgs, '/usr/bin/env', ...command]
}
