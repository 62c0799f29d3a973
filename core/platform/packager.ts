import { basename, dirname } from 'node:path'
import { spawn } from 'node:child_process'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { AppError } from '#domain/error.ts'
import type { Env } from './env.ts'
import { bareEnv, endOf, findProgram, lastLineOf, type ProgramEnd, type Running, runProgram } from './run-program.ts'
import { withinLimit } from './clock.ts'

type Command = readonly [string, ...string[]]

/** What a user may be advised to install. `compiler`: the tools for a build of Redis. */
export type Installable = 'redis' | 'compiler' | 'git' | 'bubblewrap' | 'docker'

/** How a package manager installs Redis unattended, and the command that a person would type. */
type PackagerKind = {
  program: string
  /** Packages that hold the server, tried in this order. */
  packages: readonly string[]
  /** Undefined: packages are not installed, but unpacked into a folder of the user (unpack-redis.ts). */
  install?: (packageName: string) => readonly string[]
  environment: readonly string[]
  /** Whether installing a package needs root. `refused`: the program does not work as root. */
  root: 'needed' | 'refused'
  /** The command before a package's name, without `sudo`. */
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
  /** The command that this user would have to type. */
  byHand(wanted: Installable): string
  /** The folder of its programs, which may not be on the PATH. */
  folder: string
  /** The words before the program's name; undefined when it would ask for a password or refuses this user. */
  prefix: readonly string[] | undefined
  path: string
}

/** `env`: that of this process. */
export type InstallOptions = { searchPath: string; isRoot: boolean; signal: AbortSignal; env: Env }

const sudoMs = 5_000
export const installMs = 300_000

/** The package manager of this system, if it is a known one, and whether it works without a password. */
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

/** `logPath`: the file for the package manager's output. */
export type Installing = { limitMs: number; logPath: string; signal: AbortSignal; env: Env }

/**
 * Installs the first package that is available; returns undefined, or why it installed none. The package manager is
 * never stopped, which would leave the system's packages half installed: CONFIG_006 when it takes longer than
 * `limitMs`, and it continues.
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
  if (end.kind === 'late') return 'it continues'
  return lastLineOf(end.err) || lastLineOf(end.out) || `exit code ${end.code}`
}

/**
 * Runs a program that must not be stopped halfway, without input. After `limitMs` (`late`), or when `signal` is aborted
 * (throws its reason), it continues by itself, also after this process has ended. Its output goes to the file
 * `logPath`, because a pipe would break then. It throws nothing else: a program that cannot be started, or has no log,
 * is `absent`.
 */
export async function runUnharmed(
  command: readonly [string, ...string[]],
  { logPath, ...running }: Running & { logPath: string },
): Promise<ProgramEnd> {
  running.signal.throwIfAborted()
  const log = await open(logPath, 'w').catch((error: Error) => error)
  if (log instanceof Error) return { kind: 'absent', reason: `its log cannot be written: ${log.message}` }
  try {
    return await runLogged(command, { ...running, log, logPath })
  } finally {
    await log.close()
  }
}

async function runLogged(
  [program, ...args]: readonly [string, ...string[]],
  { log, logPath, env, limitMs, signal }: Running & { log: FileHandle; logPath: string },
): Promise<ProgramEnd> {
  const child = spawn(program, args, { stdio: ['ignore', log.fd, log.fd], detached: true, env: bareEnv(env) })
  const said = async () => ({ out: await readFile(logPath, 'utf8').catch(() => ''), err: '' })
  try {
    return await withinLimit(endOf(child, said), { limitMs, signal, late: () => ({ kind: 'late', out: '', err: '' }) })
  } finally {
    child.unref()
  }
}
