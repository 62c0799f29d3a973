import { randomUUID } from 'node:crypto'
import { rename, rm, symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { buildRedis, canBuild } from './build-redis.ts'
import type { Env } from './env.ts'
import { examineRedis, leastRedis, type RedisProgram } from './examine-redis.ts'
import { findProgram } from './find-program.ts'
import { isOwnFolder, makeOwnFolder } from './own-folder.ts'
import { findPackager, installMs, installPackage, type Packager } from './packager.ts'
import { unpackRedis } from './unpack-redis.ts'

export type RedisPlaces = {
  /** As PATH is written. */
  searchPath: string
  /**
   * A folder of the user's, made when something is put there: a program that was got is found here the next time, unless
   * others can write the folder. Undefined: there is none, and nothing is got.
   */
  programDir: string | undefined
  signal: AbortSignal
  /** Of this process; programs are given the little they need. */
  env: Env
}

export type RedisFound = { program: RedisProgram | undefined; unfit: RedisProgram[] }

export type RedisWish = RedisPlaces & {
  /** False: what is not there is not got. */
  mayInstall: boolean
  isRoot: boolean
  /** How long a package manager is waited for; 5 minutes without it. */
  installLimitMs?: number
  /** One line, without its newline, before each step that takes long. */
  say(line: string): void
}

const servers = ['redis-server', 'valkey-server'] as const

/**
 * The full path of a Redis (or Valkey) server program: that on the PATH, else what was got before, else the same program
 * under another name, else what the system's package manager has where it asks for no password, else one that is built.
 * CONFIG_006 names the commands to choose from on this system. Safe to call again after any failure, and by several
 * processes at once.
 */
export async function obtainRedis(wish: RedisWish): Promise<string> {
  const { program, unfit } = await findRedis(wish)
  if (program !== undefined) return program.path
  const lack = redisLack(unfit)
  const packager = await findPackager(wish)
  const refusals: string[] = []
  const { programDir } = wish
  if (wish.mayInstall && programDir === undefined) {
    refusals.push('this user has no home folder to keep a program in')
  } else if (wish.mayInstall && programDir !== undefined && !(await makeOwnFolder(programDir))) {
    refusals.push(`${programDir} must be a folder of this user that nobody else can write`)
  } else if (wish.mayInstall && programDir !== undefined) {
    const place = { ...wish, programDir }
    const named = await underItsName(place, wish.searchPath)
    if (named !== undefined) return named
    for (const way of [() => fromPackages(place, packager, lack), () => build(place)]) {
      const got = await way()
      if ('program' in got) return got.program
      refusals.push(got.refusal)
    }
  }
  const tried = refusals.length === 0 ? '' : ` (${refusals.join('; ')})`
  throw new AppError('CONFIG_006', `${lack}${tried}: ${redisChoices(packager, unfit)}`)
}

/** What is there already: a program that will do, if any, and those that will not. */
export async function findRedis({ searchPath, programDir, ...look }: RedisPlaces): Promise<RedisFound> {
  const found = await Promise.all(servers.map((name) => findProgram(name, searchPath)))
  const paths = found.filter((path) => path !== undefined)
  if (programDir !== undefined && (await isOwnFolder(programDir))) paths.push(join(programDir, 'redis-server'))
  const unfit: RedisProgram[] = []
  for (const path of paths) {
    const program = await examineRedis(path, look)
    if (program?.fits === true) return { program, unfit }
    if (program !== undefined) unfit.push(program)
  }
  return { program: undefined, unfit }
}

/** In a word or two, why there is no server to start. */
export function redisLack([tooOld]: readonly RedisProgram[]): string {
  if (tooOld === undefined) return 'Redis is not installed'
  return `Redis ${tooOld.version} at ${tooOld.path} is too old, ${leastRedis} or a Valkey is needed`
}

type Place = RedisWish & { programDir: string }
type Got = { program: string } | { refusal: string }

async function fromPackages(wish: Place, packager: Packager | undefined, lack: string): Promise<Got> {
  if (packager === undefined) return { refusal: 'there is no package manager that Remora knows' }
  const { kind, prefix } = packager
  const getting = `${lack}: getting ${kind.packages.join(' or ')} with ${kind.program}`
  if (kind.install === undefined) {
    wish.say(`${getting} into ${wish.programDir} (installs nothing)`)
    const { programDir, installLimitMs: limitMs = installMs } = wish
    return unpackRedis(packager, programDir, { ...wish, limitMs })
  }
  if (prefix !== undefined) wish.say(`${getting} (starts no service)`)
  return install(wish, packager)
}

async function install(wish: Place, packager: Packager): Promise<Got> {
  const { kind, folder } = packager
  const refusal = await installUnharmed(wish, packager)
  if (refusal !== undefined) return { refusal }
  const searchPath = [wish.searchPath, folder].join(delimiter)
  const there = await findRedis({ ...wish, searchPath })
  const program = there.program?.path ?? (await underItsName(wish, searchPath))
  return program === undefined
    ? { refusal: `${kind.program} has no Redis server of version ${leastRedis} or later` }
    : { program }
}

/** Who stops the command while the package manager works is told that it goes on. */
async function installUnharmed(
  { programDir, signal, env, say, installLimitMs = installMs }: Place,
  packager: Packager,
) {
  const goesOn = () => say(`${packager.kind.program} is not stopped halfway: it continues in the background`)
  if (packager.prefix !== undefined) signal.addEventListener('abort', goesOn, { once: true })
  try {
    const logPath = join(programDir, 'package-manager.log')
    return await installPackage(packager, { limitMs: installLimitMs, logPath, signal, env })
  } finally {
    signal.removeEventListener('abort', goesOn)
  }
}

/**
 * The check of dump files is the whole program, and the server when it is called by that name. Debian's redis-tools and
 * valkey-tools have it without the server's name.
 */
async function underItsName(wish: Place, searchPath: string): Promise<string | undefined> {
  for (const name of ['redis-check-rdb', 'valkey-check-rdb']) {
    const tool = await findProgram(name, searchPath)
    const program = tool === undefined ? undefined : await linked(wish, tool)
    if (program !== undefined) return program
  }
  return undefined
}

async function build(wish: Place): Promise<Got> {
  if (!(await canBuild(wish.searchPath))) return { refusal: 'a build needs make and a C compiler' }
  wish.say('building Redis from its source; this takes some minutes, once')
  return buildRedis(wish.programDir, wish)
}

/** Under a name of its own until it is proved, and put into its place in one step: others may be doing the same. */
async function linked({ programDir, ...look }: Place, target: string): Promise<string | undefined> {
  const own = join(programDir, 'redis-server')
  const fresh = `${own}-${randomUUID()}`
  await symlink(target, fresh)
  try {
    if ((await examineRedis(fresh, look))?.fits !== true) return undefined
    await rename(fresh, own)
    return own
  } finally {
    await rm(fresh, { force: true })
  }
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
