import { rm, symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { buildRedis, canBuild } from './build-redis.ts'
import type { Env } from './env.ts'
import { findProgram } from './find-program.ts'
import { isOwnFolder, makeOwnFolder } from './own-folder.ts'
import { findPackager, installMs, installPackage, type Packager } from './packager.ts'
import { runProgram } from './run-program.ts'

export type RedisPlaces = {
  /** As PATH is written. */
  searchPath: string
  /**
   * A folder of the user's, made when something is put there: a program that was got is found here the next time, unless
   * others can write the folder.
   */
  programDir: string
  signal: AbortSignal
}

/** A server; `fits`: new enough. */
export type RedisProgram = { path: string; version: string; fits: boolean }
export type RedisFound = { program: RedisProgram | undefined; unfit: RedisProgram[] }

export type RedisWish = RedisPlaces & {
  /** False: what is not there is not got. */
  mayInstall: boolean
  isRoot: boolean
  /** Of this process; a build is given the little it needs. */
  env: Env
  /** How long a package manager is waited for; 5 minutes without it. */
  installLimitMs?: number
  /** One line, without its newline, before each step that takes long. */
  say(line: string): void
}

const servers = ['redis-server', 'valkey-server'] as const
const versionMs = 5_000
const leastRedis = 7

/**
 * The full path of a Redis (or Valkey) server program: that on the PATH, else what was got before, else what the
 * system's package manager installs where it asks for no password, else one that is built. CONFIG_006 names the commands
 * to choose from on this system. Safe to call again after any failure.
 */
export async function obtainRedis(wish: RedisWish): Promise<string> {
  const { program, unfit } = await findRedis(wish)
  if (program !== undefined) return program.path
  const lack = redisLack(unfit)
  const packager = await findPackager(wish)
  const refusals: string[] = []
  if (wish.mayInstall && !(await makeOwnFolder(wish.programDir))) {
    refusals.push(`${wish.programDir} must be a folder of this user that nobody else can write`)
  } else if (wish.mayInstall) {
    for (const way of [() => install(wish, packager, lack), () => build(wish)]) {
      const got = await way()
      if ('program' in got) return got.program
      refusals.push(got.refusal)
    }
  }
  const tried = refusals.length === 0 ? '' : ` (${refusals.join('; ')})`
  throw new AppError('CONFIG_006', `${lack}${tried}: ${redisChoices(packager, unfit)}`)
}

/** What is there already: a program that will do, if any, and those that will not. */
export async function findRedis({ searchPath, programDir, signal }: RedisPlaces): Promise<RedisFound> {
  const found = await Promise.all(servers.map((name) => findProgram(name, searchPath)))
  const paths = found.filter((path) => path !== undefined)
  if (await isOwnFolder(programDir)) paths.push(join(programDir, 'redis-server'))
  const unfit: RedisProgram[] = []
  for (const path of paths) {
    const program = await examineProgram(path, signal)
    if (program?.fits === true) return { program, unfit }
    if (program !== undefined) unfit.push(program)
  }
  return { program: undefined, unfit }
}

/** Undefined for what is no Redis or Valkey server. `SET … NX GET`, which the ledger needs, is of Redis 7. */
async function examineProgram(path: string, signal: AbortSignal): Promise<RedisProgram | undefined> {
  const end = await runProgram([path, '--version'], { limitMs: versionMs, signal })
  const said = end.kind === 'ended' ? /(\w+) server v=(\S+)/.exec(end.out) : null
  const [, name, version] = said ?? []
  if (name === undefined || version === undefined) return undefined
  return { path, version, fits: name === 'Valkey' || Number.parseInt(version, 10) >= leastRedis }
}

/** In a word or two, why there is no server to start. */
export function redisLack([tooOld]: readonly RedisProgram[]): string {
  if (tooOld === undefined) return 'Redis is not installed'
  return `Redis ${tooOld.version} at ${tooOld.path} is too old, ${leastRedis} or a Valkey is needed`
}

type Got = { program: string } | { refusal: string }

async function install(wish: RedisWish, packager: Packager | undefined, lack: string): Promise<Got> {
  if (packager === undefined) return { refusal: 'no package manager that Remora knows is here' }
  const { kind, prefix, folder } = packager
  if (prefix !== undefined) {
    wish.say(`${lack}: getting ${kind.packages.join(' or ')} with ${kind.program} (starts no service)`)
  }
  const refusal = await installUnharmed(wish, packager)
  if (refusal !== undefined) return { refusal }
  const searchPath = [wish.searchPath, folder].join(delimiter)
  const there = await findRedis({ ...wish, searchPath })
  const program = there.program?.path ?? (await underItsName(wish, searchPath))
  return program === undefined
    ? { refusal: `what ${kind.program} has is no server of Redis ${leastRedis}` }
    : { program }
}

/** Who stops the command while the package manager works is told that it goes on. */
async function installUnharmed({ programDir, signal, say, installLimitMs = installMs }: RedisWish, packager: Packager) {
  const goesOn = () => say(`${packager.kind.program} is not stopped halfway: it goes on in the background`)
  if (packager.prefix !== undefined) signal.addEventListener('abort', goesOn, { once: true })
  try {
    const logPath = join(programDir, 'package-manager.log')
    return await installPackage(packager, { limitMs: installLimitMs, logPath, signal })
  } finally {
    signal.removeEventListener('abort', goesOn)
  }
}

/** Debian's redis-tools calls the program redis-check-rdb; it is the server when it is called by that name. */
async function underItsName(wish: RedisWish, searchPath: string): Promise<string | undefined> {
  const tool = await findProgram('redis-check-rdb', searchPath)
  return tool === undefined ? undefined : linked(wish, tool)
}

async function build(wish: RedisWish): Promise<Got> {
  if (!(await canBuild(wish.searchPath))) return { refusal: 'a build needs make and a C compiler' }
  wish.say('building Redis from its source; this takes some minutes, once')
  const built = await buildRedis(wish.programDir, wish)
  if ('refusal' in built) return built
  const program = await linked(wish, built.program)
  return program === undefined ? { refusal: 'what was built is no Redis server' } : { program }
}

async function linked({ programDir, signal }: RedisWish, target: string): Promise<string | undefined> {
  const own = join(programDir, 'redis-server')
  await rm(own, { force: true })
  await symlink(target, own)
  return (await examineProgram(own, signal))?.fits === true ? own : undefined
}

/**
 * What a person may do about a missing Redis on this system, as commands to choose from. Where one is too old, the
 * system's packages usually are.
 */
export function redisChoices(packager: Packager | undefined, unfit: readonly RedisProgram[] = []): string {
  const service = '"export REMORA_API_URL=http://HOST:8420" to use a service that runs elsewhere'
  if (packager === undefined) {
    return `choose "apt-get install redis-server", "dnf install valkey" or "brew install redis", or ${service}`
  }
  if (unfit.length > 0) return `choose "${packager.byHand('compiler')}" (Remora then builds it), or ${service}`
  return `choose "${packager.byHand('redis')}", "${packager.byHand('compiler')}" (Remora then builds it), or ${service}`
}
