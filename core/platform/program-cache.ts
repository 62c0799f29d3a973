import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import type { Env } from './env.ts'
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

/** `env`: that of this process. */
export type Look = Pick<Running, 'signal' | 'env'>

export type RedisProgram = { path: string; version: string; fits: boolean }

const versionMs = 5_000
/** `SET … NX GET`, which the ledger needs, is of Redis 7. */
export const leastRedis = 7

/** Asks a program for its version. Undefined when it is not a Redis or Valkey server. */
export async function examineRedis(path: string, { signal, env }: Look): Promise<RedisProgram | undefined> {
  const end = await runProgram([path, '--version'], { limitMs: versionMs, signal, env })
  const said = end.kind === 'ended' ? /(\w+) server v=(\S+)/.exec(end.out) : null
  const [, name, version] = said ?? []
  if (name === undefined || version === undefined) return undefined
  return { path, version, fits: name === 'Valkey' || Number.parseInt(version, 10) >= leastRedis }
}

export async function isFit(path: string, look: Look): Promise<boolean> {
  return (await examineRedis(path, look))?.fits === true
}

/**
 * Makes the program `redis-server` in `programDir`: under a temporary name until it was checked, then renamed in one
 * step, since other processes may do the same. Returns its path; undefined when it starts no server, or is not wanted.
 */
export async function putIntoPlace(
  { programDir, ...look }: Look & { programDir: string },
  make: (path: string) => Promise<void>,
  isWanted = async () => true,
): Promise<string | undefined> {
  const own = join(programDir, 'redis-server')
  const fresh = `${own}-${randomUUID()}`
  try {
    await make(fresh)
    if (!(await isFit(fresh, look)) || !(await isWanted())) return undefined
    await rename(fresh, own)
    return own
  } finally {
    await rm(fresh, { force: true })
  }
}

/** Longer than any download or build takes. */
const usedMs = 1_200_000

/**
 * Removes what killed downloads and builds left in `dir`: folders named with one of `prefixes`, older than 20 minutes,
 * except the one that the script `redis-server` starts its server from.
 */
export async function removeAbandoned(dir: string, prefixes: readonly string[]): Promise<void> {
  const script = await readFile(join(dir, 'redis-server'), 'latin1').catch(() => '')
  for (const name of await readdir(dir)) {
    if (!prefixes.some((prefix) => name.startsWith(prefix)) || script.includes(`/${name}/`)) continue
    const folder = join(dir, name)
    const changedMs = (await stat(folder).catch(() => undefined))?.mtimeMs ?? Infinity
    if (changedMs > Date.now() - usedMs) continue
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
