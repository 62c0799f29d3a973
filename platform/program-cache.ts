import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import type { Env } from './env.ts'
import type { Obtained } from './packager.ts'
import { type Running, runProgram } from './run-program.ts'

/**
 * The user's folder for programs that Remora downloaded or built; never the working folder, whose content came with
 * somebody's repository. `env`: without the settings file. Undefined for a user without a home.
 */
export function programCache(env: Env): string | undefined {
  const cache = env['XDG_CACHE_HOME'] ?? ''
  if (isAbsolute(cache)) return join(cache, 'remora')
  const home = [env['HOME'] ?? '', registeredHome()].find((folder) => isAbsolute(folder))
  return home === undefined ? undefined : join(home, '.cache', 'remora')
}

/** The home in the system's list of users; `homedir()` would return HOME, whatever it holds. */
function registeredHome(): string {
  try {
    return userInfo().homedir
  } catch {
    return '' // a user id without an entry, as in containers
  }
}

/** `env` is that of this process. */
export type Look = Pick<Running, 'signal' | 'env'>

export type FoundProgram = { path: string; version: string; fits: boolean }

/** A program that Remora gets where it is missing. */
export type Obtainable = {
  /** Names it in the folder of such programs. */
  name: string
  /** Names it in messages. */
  title: string
  packages: Obtained
  /** The paths that it has in these packages; the first that is there counts. */
  files: readonly string[]
  /** Asks a program for its version. Undefined when it is another one. */
  examine(path: string, look: Look): Promise<FoundProgram | undefined>
}

const versionMs = 5_000
/** `SET … NX GET`, which the ledger needs, is of Redis 7. */
export const leastRedis = 7
/** Is the least minor version of 0 that has `--disable-userns`. */
const leastBubblewrap = 8

/** A Redis or Valkey server. */
export const redisServer: Obtainable = {
  name: 'redis-server',
  title: `server of Redis ${leastRedis}`,
  packages: 'redis',
  // The program that checks dump files is the server when it is started under that name.
  files: ['usr/bin/redis-check-rdb', 'usr/bin/valkey-check-rdb'],
  examine: examineRedis,
}

async function examineRedis(path: string, look: Look): Promise<FoundProgram | undefined> {
  const said = /(\w+) server v=(\S+)/.exec(await versionText(path, look))
  const [, name, version] = said ?? []
  if (name === undefined || version === undefined) return undefined
  return { path, version, fits: name === 'Valkey' || Number.parseInt(version, 10) >= leastRedis }
}

export const bubblewrap: Obtainable = {
  name: 'bwrap',
  title: 'bubblewrap',
  packages: 'bubblewrap',
  files: ['usr/bin/bwrap'],
  async examine(path, look) {
    const [, version] = /^bubblewrap (\d+\.\d+\S*)/.exec(await versionText(path, look)) ?? []
    if (version === undefined) return undefined
    const [major = 0, minor = 0] = version.split('.').map(Number)
    return { path, version, fits: major > 0 || minor >= leastBubblewrap }
  },
}

/** Returns what `--version` prints; empty when the program does not run. */
async function versionText(path: string, { signal, env }: Look): Promise<string> {
  const end = await runProgram([path, '--version'], { limitMs: versionMs, signal, env })
  return end.kind === 'ended' ? end.out : ''
}

export async function isFit(wanted: Obtainable, path: string, look: Look): Promise<boolean> {
  return (await wanted.examine(path, look))?.fits === true
}

/**
 * Makes the program in `programDir`: under a temporary name until it was checked, then renamed in one
 * step, since other processes may do the same. Returns its path; undefined when it does not fit, or is not wanted.
 */
export async function putIntoPlace(
  wanted: Obtainable,
  { programDir, ...look }: Look & { programDir: string },
  make: (path: string) => Promise<void>,
  isWanted = async () => true,
): Promise<string | undefined> {
  const own = join(programDir, wanted.name)
  const fresh = `${own}-${randomUUID()}`
  try {
    await make(fresh)
    if (!(await isFit(wanted, fresh, look)) || !(await isWanted())) return undefined
    await rename(fresh, own)
    return own
  } finally {
    await rm(fresh, { force: true })
  }
}

/** Is longer than any download or build takes. */
const usedMs = 1_200_000

/**
 * Removes what killed downloads and builds left in `dir`: folders named with one of `prefixes`, older than 20 minutes,
 * except those that a script in `dir` starts its program from.
 */
export async function removeAbandoned(dir: string, prefixes: readonly string[]): Promise<void> {
  const names = [redisServer, bubblewrap].map(({ name }) => join(dir, name))
  const scripts = await Promise.all(names.map((path) => readFile(path, 'latin1').catch(() => '')))
  for (const name of await readdir(dir)) {
    if (!prefixes.some((prefix) => name.startsWith(prefix)) || scripts.some((script) => script.includes(`/${name}/`)))
      continue
    const folder = join(dir, name)
    const changedMs = (await stat(folder).catch(() => undefined))?.mtimeMs ?? Infinity
    if (changedMs > Date.now() - usedMs) continue
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
