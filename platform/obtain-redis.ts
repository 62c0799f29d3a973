import { symlink } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { type FoundProgram, leastRedis, programCache, putIntoPlace, redisServer } from './program-cache.ts'
import { findProgram } from './run-program.ts'
import { isOwnFolder, makeOwnFolder } from './own-file.ts'
import { type ObtainOptions, type Place, type ProgramPlaces, programFromPackages } from './obtain-program.ts'
import { findPackager, type Packager } from './packager.ts'

export type RedisFound = { program: FoundProgram | undefined; unfit: FoundProgram[] }

const servers = ['redis-server', 'valkey-server'] as const

/**
 * The path of a Redis (or Valkey) server: from the PATH, else one an earlier call got, else the same program under
 * another name, else from a package manager that asks for no password. CONFIG_006 names the commands
 * to choose from. Safe to call again after any failure, and by several processes at once.
 */
export async function obtainRedis(options: ObtainOptions): Promise<string> {
  const { program, unfit } = await findRedis(options)
  if (program !== undefined) return program.path
  const lack = redisLack(unfit)
  const packager = await findPackager(options)
  const refusals: string[] = []
  const { programDir } = options
  if (options.mayInstall && programDir === undefined) {
    refusals.push('this user has no home folder to keep a program in')
  } else if (options.mayInstall && programDir !== undefined && !(await makeOwnFolder(programDir))) {
    refusals.push(`${programDir} must be a folder of this user that nobody else can write`)
  } else if (options.mayInstall && programDir !== undefined) {
    const place = { ...options, programDir }
    const named = await underItsName(place, options.searchPath)
    if (named !== undefined) return named
    const find = async (searchPath: string) => {
      const there = await findRedis({ ...place, searchPath })
      return there.program?.path ?? (await underItsName(place, searchPath))
    }
    const got = await programFromPackages(redisServer, place, { packager, lack, find })
    if ('program' in got) return got.program
    refusals.push(got.refusal)
  }
  const tried = refusals.length === 0 ? '' : ` (${refusals.join('; ')})`
  throw new AppError('CONFIG_006', `${lack}${tried}: ${redisChoices(packager, unfit)}`)
}

export async function findRedis({ searchPath, programDir, ...look }: ProgramPlaces): Promise<RedisFound> {
  const found = await Promise.all(servers.map((name) => findProgram(name, searchPath)))
  const paths = found.filter((path) => path !== undefined)
  if (programDir !== undefined && (await isOwnFolder(programDir))) paths.push(join(programDir, redisServer.name))
  const unfit: FoundProgram[] = []
  for (const path of paths) {
    const program = await redisServer.examine(path, look)
    if (program?.fits === true) return { program, unfit }
    if (program !== undefined) unfit.push(program)
  }
  return { program: undefined, unfit }
}

export function redisLack([tooOld]: readonly FoundProgram[]): string {
  if (tooOld === undefined) return 'Redis is not installed'
  return `Redis ${tooOld.version} at ${tooOld.path} is too old, ${leastRedis} or a Valkey is needed`
}

/** The program that checks dump files is the server when it has the server's name. Debian's tools lack that name. */
async function underItsName(options: Place, searchPath: string): Promise<string | undefined> {
  for (const name of ['redis-check-rdb', 'valkey-check-rdb']) {
    const tool = await findProgram(name, searchPath)
    const program =
      tool === undefined ? undefined : await putIntoPlace(redisServer, options, (path) => symlink(tool, path))
    if (program !== undefined) return program
  }
  return undefined
}

/** The commands that get Redis here. Where an installed one is too old, the system's packages usually are, too. */
export function redisChoices(packager: Packager | undefined, unfit: readonly FoundProgram[] = []): string {
  const service = '"export REMORA_API_URL=http://HOST:8420" to use a service that runs elsewhere'
  if (unfit.length > 0) return `put a newer redis-server or valkey-server on the PATH, or choose ${service}`
  if (packager !== undefined) return `choose "${packager.byHand('redis')}", or ${service}`
  return `choose "apt-get install redis-server", "dnf install valkey" or "brew install redis", or ${service}`
}

/**
 * Gets a Redis for tests and measurements as `remora run` does, and adds its folder to the PATH of `env`, this
 * process's environment. Throws CONFIG_006 when there is none to get.
 */
export async function putRedisOnPath(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const searchPath = env['PATH'] ?? ''
  const programDir = programCache(env)
  const program = await obtainRedis({
    searchPath,
    programDir,
    mayInstall: env['REMORA_REDIS_INSTALL'] !== 'never',
    isRoot: process.getuid?.() === 0,
    env,
    say: (line) => void process.stderr.write(`${line}\n`),
    signal,
  })
  const folder = dirname(program)
  if (searchPath.split(delimiter).includes(folder)) return
  // Before the others only where nothing else is in it: a Redis on the PATH may be too old.
  env['PATH'] = (folder === programDir ? [folder, searchPath] : [searchPath, folder]).join(delimiter)
}
