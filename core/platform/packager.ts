import { basename, dirname } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { Env } from './env.ts'
import { findProgram } from './find-program.ts'
import { lastLineOf, runProgram, type ProgramEnd } from './run-program.ts'
import { runUnharmed } from './run-unharmed.ts'

type Command = readonly [string, ...string[]]

/** What a user may be told to get. `compiler`: what a build of Redis needs. */
export type Installable = 'redis' | 'compiler' | 'git' | 'bubblewrap' | 'docker'

/** How a system's package manager gets Redis, unattended, and what a person would type. */
type PackagerKind = {
  program: string
  /** Packages that hold the server, tried in this order. */
  packages: readonly string[]
  /** Undefined: packages are not installed, but unpacked into a folder of the user's (unpack-redis.ts). */
  install?: (packageName: string) => readonly string[]
  environment: readonly string[]
  /** Of a person who installs a package. `refused`: the program does not work as root. */
  root: 'needed' | 'refused'
  /** What a person types before a name, as root where that is needed. */
  verb: string
  names: Record<Installable, string>
}

const kinds: readonly PackagerKind[] = [
  {
    // redis-tools has the whole program, redis-server adds only a link to it and the service.
    program: 'apt-get',
    packages: ['redis-tools', 'valkey-tools'],
    environment: [],
    root: 'needed',
    verb: 'apt-get install',
    names: {
      redis: 'redis-server',
      compiler: 'make gcc libc6-dev',
      git: 'git',
      bubblewrap: 'bubblewrap',
      docker: 'docker.io',
    },
  },
  {
    program: 'dnf',
    packages: ['valkey', 'redis'],
    install: (name) => ['install', '-y', '--setopt=timeout=10', '--setopt=retries=1', name],
    environment: [],
    root: 'needed',
    verb: 'dnf install',
    names: { redis: 'valkey', compiler: 'make gcc', git: 'git', bubblewrap: 'bubblewrap', docker: 'moby-engine' },
  },
  {
    program: 'apk',
    packages: ['valkey', 'redis'],
    install: (name) => ['add', '--no-cache', '--timeout', '10', name],
    environment: [],
    root: 'needed',
    verb: 'apk add',
    names: {
      redis: 'redis',
      compiler: 'build-base linux-headers',
      git: 'git',
      bubblewrap: 'bubblewrap',
      docker: 'docker',
    },
  },
  {
    program: 'brew',
    packages: ['redis'],
    install: (name) => ['install', '--quiet', name],
    environment: ['HOMEBREW_NO_AUTO_UPDATE=1', 'NONINTERACTIVE=1'],
    root: 'refused',
    verb: 'brew install',
    names: { redis: 'redis', compiler: 'make gcc', git: 'git', bubblewrap: 'docker', docker: 'docker' },
  },
]

export type Packager = {
  kind: PackagerKind
  /** What this user would have to type. */
  byHand(wanted: Installable): string
  /** Where its programs are: its own folder, which may not be on the PATH. */
  folder: string
  /** What goes before the program's name; undefined when it would ask for a password or refuses this user. */
  prefix: readonly string[] | undefined
  path: string
}

/** `env`: that of this process. */
export type InstallOptions = { searchPath: string; isRoot: boolean; signal: AbortSignal; env: Env }

const sudoMs = 5_000
export const installMs = 300_000

/** The package manager of this system, if it is one of those we know, and whether it works without a password. */
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
  const { root, install } = kind
  if (install === undefined) return []
  if (root === 'refused') return isRoot ? undefined : []
  if (isRoot) return []
  const sudo = await findProgram('sudo', searchPath)
  if (sudo === undefined) return undefined
  const asked = await runProgram([sudo, '-n', 'true'], { limitMs: sudoMs, signal, env })
  return asked.kind === 'ended' && asked.code === 0 ? [sudo, '-n'] : undefined
}

/** `logPath`: what the package manager says. */
export type Installing = { limitMs: number; logPath: string; signal: AbortSignal; env: Env }

/**
 * Installs the first package that is to be had; answers undefined, or why none was. The package manager is never
 * stopped, which would leave the system's packages half done: CONFIG_006 when it is not done in `limitMs`, and goes on.
 */
export async function installPackage(packager: Packager, installing: Installing): Promise<string | undefined> {
  const { kind, prefix } = packager
  if (prefix === undefined) return `${kind.program} ${kind.root === 'refused' ? 'refuses root' : 'needs a password'}`
  let why = `${kind.program} installs nothing by itself`
  for (const name of kind.packages) {
    if (kind.install === undefined) break
    const end = await manage(packager, commandOf(packager, prefix, kind.install(name)), installing)
    if (end.kind === 'ended' && end.code === 0) return undefined
    why = `${basename(packager.path)} did not get it: ${reasonOf(end)}`
  }
  return why
}

async function manage({ kind }: Packager, command: Command, installing: Installing): Promise<ProgramEnd> {
  const end = await runUnharmed(command, installing)
  if (end.kind !== 'late') return end
  const { limitMs, logPath } = installing
  throw new AppError(
    'CONFIG_006',
    `${kind.program} takes longer than ${limitMs / 1_000} s and continues in the background: wait until it has ended, then try again (its output is in ${logPath})`,
  )
}

function commandOf(packager: Packager, prefix: readonly string[], args: readonly string[]): Command {
  const command = [...packager.kind.environment, packager.path, ...args]
  const [sudo, ...sudoArgs] = prefix
  return sudo === undefined ? ['/usr/bin/env', ...command] : [sudo, ...sudoArgs, '/usr/bin/env', ...command]
}

function reasonOf(end: ProgramEnd): string {
  if (end.kind === 'absent') return end.reason
  if (end.kind === 'late') return 'it goes on'
  return lastLineOf(end.err) || lastLineOf(end.out) || `exit code ${end.code}`
}
