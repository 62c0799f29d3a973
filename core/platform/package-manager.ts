import { basename, dirname } from 'node:path'
import { findProgram } from './find-program.ts'
import { lastLineOf, runProgram, type ProgramEnd } from './run-program.ts'

type Command = readonly [string, ...string[]]

/** How a system's package manager gets Redis, unattended, and what a person would type. */
type ManagerKind = {
  program: string
  /** Packages that bring the server, tried in this order. */
  packages: readonly string[]
  install(packageName: string): readonly string[]
  /** Brings the lists of packages up to date, for systems that may have none. */
  refresh?: readonly string[]
  environment: readonly string[]
  /** `refused`: the program does not work as root. */
  root: 'needed' | 'refused'
  /** What a person types, as root where that is needed. */
  byHand: string
  /** The same for what a build needs. */
  compilerByHand: string
}

// A dead network must be noticed soon; so must another package manager that holds the lock.
const aptSettings = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=10', '-o', 'DPkg::Lock::Timeout=30']

const kinds: readonly ManagerKind[] = [
  {
    // In Debian's packages redis-tools has the whole program, under the name of one of its uses, and redis-server adds
    // the service: without it, nothing is started now or at the next boot.
    program: 'apt-get',
    packages: ['redis-tools'],
    install: (name) => [...aptSettings, 'install', '-y', '--no-install-recommends', name],
    refresh: [...aptSettings, 'update'],
    environment: ['DEBIAN_FRONTEND=noninteractive', 'NEEDRESTART_SUSPEND=1'],
    root: 'needed',
    byHand: 'apt-get install redis-server',
    compilerByHand: 'apt-get install make gcc libc6-dev',
  },
  {
    program: 'dnf',
    packages: ['valkey', 'redis'],
    install: (name) => ['install', '-y', '--setopt=timeout=10', '--setopt=retries=1', name],
    environment: [],
    root: 'needed',
    byHand: 'dnf install valkey',
    compilerByHand: 'dnf install make gcc',
  },
  {
    program: 'apk',
    packages: ['valkey', 'redis'],
    install: (name) => ['add', '--no-cache', '--timeout', '10', name],
    environment: [],
    root: 'needed',
    byHand: 'apk add redis',
    compilerByHand: 'apk add build-base linux-headers',
  },
  {
    program: 'brew',
    packages: ['redis'],
    install: (name) => ['install', '--quiet', name],
    environment: ['HOMEBREW_NO_AUTO_UPDATE=1', 'NONINTERACTIVE=1'],
    root: 'refused',
    byHand: 'brew install redis',
    compilerByHand: 'xcode-select --install',
  },
]

export type PackageManager = {
  kind: ManagerKind
  /** What this user would have to type: to get Redis, and to get what a build needs. */
  byHand: string
  compilerByHand: string
  /** Where its programs are: its own folder, which may not be on the PATH. */
  folder: string
  /** What goes before the program's name; undefined when it would ask for a password or refuses this user. */
  prefix: readonly string[] | undefined
  path: string
}

export type InstallOptions = { searchPath: string; isRoot: boolean; signal: AbortSignal }

const sudoMs = 5_000
const installMs = 300_000

/** The package manager of this system, if it is one of those we know, and whether it works without a password. */
export async function findPackageManager(options: InstallOptions): Promise<PackageManager | undefined> {
  for (const kind of kinds) {
    const path = await findProgram(kind.program, options.searchPath)
    if (path === undefined) continue
    const sudo = kind.root === 'needed' && !options.isRoot ? 'sudo ' : ''
    const words = { byHand: `${sudo}${kind.byHand}`, compilerByHand: `${sudo}${kind.compilerByHand}` }
    return { kind, ...words, path, folder: dirname(path), prefix: await prefixFor(kind, options) }
  }
  return undefined
}

async function prefixFor({ root }: ManagerKind, options: InstallOptions): Promise<readonly string[] | undefined> {
  const { searchPath, isRoot, signal } = options
  if (root === 'refused') return isRoot ? undefined : []
  if (isRoot) return []
  const sudo = await findProgram('sudo', searchPath)
  if (sudo === undefined) return undefined
  const asked = await runProgram([sudo, '-n', 'true'], { limitMs: sudoMs, signal })
  return asked.kind === 'ended' && asked.code === 0 ? [sudo, '-n'] : undefined
}

/** Installs the first package that is to be had; answers undefined, or why none was. */
export async function installPackage(manager: PackageManager, signal: AbortSignal): Promise<string | undefined> {
  const { kind, prefix } = manager
  if (prefix === undefined) return `${kind.program} ${kind.root === 'refused' ? 'refuses root' : 'needs a password'}`
  const first = await tryPackages(manager, prefix, signal)
  if (first === undefined || kind.refresh === undefined) return first
  await runProgram(commandOf(manager, prefix, kind.refresh), { limitMs: installMs, signal })
  return tryPackages(manager, prefix, signal)
}

async function tryPackages(manager: PackageManager, prefix: readonly string[], signal: AbortSignal) {
  let why = ''
  for (const name of manager.kind.packages) {
    const end = await runProgram(commandOf(manager, prefix, manager.kind.install(name)), { limitMs: installMs, signal })
    if (end.kind === 'ended' && end.code === 0) return undefined
    why = `${basename(manager.path)} did not get it: ${reasonOf(end)}`
  }
  return why
}

function commandOf(manager: PackageManager, prefix: readonly string[], args: readonly string[]): Command {
  const [first = '/usr/bin/env', ...rest] = [...prefix, '/usr/bin/env', ...manager.kind.environment, manager.path]
  return [first, ...rest, ...args]
}

function reasonOf(end: ProgramEnd): string {
  if (end.kind === 'absent') return end.reason
  if (end.kind === 'late') return `it took longer than ${installMs / 60_000} minutes`
  return lastLineOf(end.err) || lastLineOf(end.out) || `exit code ${end.code}`
}
