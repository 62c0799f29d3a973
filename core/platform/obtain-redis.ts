import { rm, symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { buildRedis, canBuild } from './build-redis.ts'
import { findProgram } from './find-program.ts'
import { isOwnFolder, makeOwnFolder } from './own-folder.ts'
import { findPackager, installPackage, type Packager } from './packager.ts'
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

export type RedisWish = RedisPlaces & {
  /** False: what is not there is not got. */
  mayInstall: boolean
  isRoot: boolean
  /** One line, without its newline, before each step that takes long. */
  say(line: string): void
}

const servers = ['redis-server', 'valkey-server'] as const
const versionMs = 5_000

/**
 * The full path of a Redis (or Valkey) server program: that on the PATH, else what was got before, else what the
 * system's package manager installs where it asks for no password, else one that is built. CONFIG_006 names the commands
 * to choose from on this system. Safe to call again after any failure.
 */
export async function obtainRedis(wish: RedisWish): Promise<string> {
  const found = await findRedis(wish)
  if (found !== undefined) return found
  const packager = await findPackager(wish)
  const refusals: string[] = []
  if (wish.mayInstall && !(await makeOwnFolder(wish.programDir))) {
    refusals.push(`${wish.programDir} must be a folder of this user that nobody else can write`)
  } else if (wish.mayInstall) {
    for (const way of [() => install(wish, packager), () => build(wish)]) {
      const got = await way()
      if ('program' in got) return got.program
      refusals.push(got.refusal)
    }
  }
  throw redisMissing(packager, refusals)
}

/** The program that is there already, if any. */
export async function findRedis({ searchPath, programDir, signal }: RedisPlaces): Promise<string | undefined> {
  for (const name of servers) {
    const path = await findProgram(name, searchPath)
    if (path !== undefined) return path
  }
  if (!(await isOwnFolder(programDir))) return undefined
  const own = join(programDir, 'redis-server')
  return (await redisVersion(own, signal)) === undefined ? undefined : own
}

/** `7.0.15`, or undefined for what is no Redis or Valkey server. */
export async function redisVersion(program: string, signal: AbortSignal): Promise<string | undefined> {
  const end = await runProgram([program, '--version'], { limitMs: versionMs, signal })
  return end.kind === 'ended' ? /server v=(\S+)/.exec(end.out)?.[1] : undefined
}

type Got = { program: string } | { refusal: string }

async function install(wish: RedisWish, packager: Packager | undefined): Promise<Got> {
  if (packager === undefined) return { refusal: 'no package manager that Remora knows is here' }
  const { kind, prefix, folder } = packager
  if (prefix !== undefined) {
    wish.say(`Redis is not installed: getting ${kind.packages.join(' or ')} with ${kind.program} (starts no service)`)
  }
  const refusal = await installPackage(packager, wish.signal)
  if (refusal !== undefined) return { refusal }
  const searchPath = [wish.searchPath, folder].join(delimiter)
  const program = (await findRedis({ ...wish, searchPath })) ?? (await underItsName(wish, searchPath))
  return program === undefined ? { refusal: `what ${kind.program} installed has no server` } : { program }
}

/** Debian's redis-tools calls the program redis-check-rdb; it is the server when it is called by that name. */
async function underItsName(wish: RedisWish, searchPath: string): Promise<string | undefined> {
  const tool = await findProgram('redis-check-rdb', searchPath)
  return tool === undefined ? undefined : linked(wish, tool)
}

async function build(wish: RedisWish): Promise<Got> {
  if (!(await canBuild(wish.searchPath))) return { refusal: 'a build needs make and a C compiler' }
  wish.say('building Redis from its source; this takes some minutes, once')
  const built = await buildRedis(wish.programDir, wish.signal)
  if ('refusal' in built) return built
  const program = await linked(wish, built.program)
  return program === undefined ? { refusal: 'what was built is no Redis server' } : { program }
}

async function linked({ programDir, signal }: RedisWish, target: string): Promise<string | undefined> {
  const own = join(programDir, 'redis-server')
  await rm(own, { force: true })
  await symlink(target, own)
  return (await redisVersion(own, signal)) === undefined ? undefined : own
}

function redisMissing(packager: Packager | undefined, refusals: readonly string[]): AppError {
  const tried = refusals.length === 0 ? '' : ` (${refusals.join('; ')})`
  return new AppError('CONFIG_006', `Redis is not installed${tried}: ${redisChoices(packager)}`)
}

/** What a person may do about a missing Redis on this system, as commands to choose from. */
export function redisChoices(packager: Packager | undefined): string {
  const service = '"export REMORA_API_URL=http://HOST:8420" to use a service that runs elsewhere'
  if (packager === undefined) {
    return `choose "apt-get install redis-server", "dnf install valkey" or "brew install redis", or ${service}`
  }
  return `choose "${packager.byHand('redis')}", "${packager.byHand('compiler')}" (Remora then builds it), or ${service}`
}
