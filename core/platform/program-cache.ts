import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import type { Env } from './env.ts'
import { runProgram } from './run-program.ts'

/**
 * The folder for programs that Remora downloaded or built. It is in the user's cache, never in the working folder,
 * whose content came with somebody's repository. `env` is the process's own environment, without the settings file.
 * Undefined for a user without a home.
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

/** A Redis or Valkey server. `fits`: it is new enough. */
export type RedisProgram = { path: string; version: string; fits: boolean }

const versionMs = 5_000
/** `SET … NX GET`, which the ledger needs, is of Redis 7. */
export const leastRedis = 7

/** Asks a program for its version. Undefined when it is not a Redis or Valkey server. `env` is that of this process. */
export async function examineRedis(
  path: string,
  { signal, env }: { signal: AbortSignal; env: Env },
): Promise<RedisProgram | undefined> {
  const end = await runProgram([path, '--version'], { limitMs: versionMs, signal, env })
  const said = end.kind === 'ended' ? /(\w+) server v=(\S+)/.exec(end.out) : null
  const [, name, version] = said ?? []
  if (name === undefined || version === undefined) return undefined
  return { path, version, fits: name === 'Valkey' || Number.parseInt(version, 10) >= leastRedis }
}

/** Longer than any download or build takes. */
const usedMs = 1_200_000

/**
 * Removes what downloads and builds of Redis left in `dir` when they were killed: folders whose name begins with one of
 * `prefixes` and that are older than 20 minutes, except one that the script `redis-server` starts its server from.
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
