import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import type { Env } from './env.ts'
import { bubblewrap, type KnownProgram, redisServer, type Version } from './known-programs.ts'
import { type Running, runProgram } from './run-program.ts'

/** Returns the user's folder for programs, never the working folder. `env`: without the settings file. */
export function programCache(env: Env): string | undefined {
  const cache = env['XDG_CACHE_HOME'] ?? ''
  if (isAbsolute(cache)) return join(cache, 'remora')
  const home = [env['HOME'] ?? '', registeredHome()].find((folder) => isAbsolute(folder))
  return home === undefined ? undefined : join(home, '.cache', 'remora')
}

/** Returns the home in the system's list of users; `homedir()` would return HOME, whatever it holds. */
function registeredHome(): string {
  try {
    return userInfo().homedir
  } catch {
    return '' // a user id without an entry, as in containers
  }
}

/** Returns the folder for bubblewrap. Root's is not in its home: programs in the sandbox are started as a user who cannot look in there. */
export function bubblewrapDir(env: Env, isRoot: boolean): string | undefined {
  const isChosen = (env['XDG_CACHE_HOME'] ?? '') !== ''
  return isRoot && !isChosen ? '/var/cache/remora' : programCache(env)
}

type Look = Pick<Running, 'signal' | 'env'>

export type Found = Version & { path: string }

export type Got = { path: string } | { refusal: string }

const versionMs = 5_000

/** Asks a program for its version. Returns undefined when it is another one, or does not run. */
export async function examine(wanted: KnownProgram, path: string, { signal, env }: Look): Promise<Found | undefined> {
  const end = await runProgram([path, '--version'], { limitMs: versionMs, signal, env })
  const version = wanted.versionIn(end.kind === 'ended' ? end.out : '')
  return version && { ...version, path }
}

/** Makes the program under a temporary name, checks it and renames it. Undefined when it is not the right one, or not wanted. */
export async function putIntoPlace(
  wanted: KnownProgram,
  { programDir, ...look }: Look & { programDir: string },
  make: (path: string) => Promise<void>,
  isWanted = async () => true,
): Promise<string | undefined> {
  const own = join(programDir, wanted.place)
  const fresh = `${own}-${randomUUID()}`
  try {
    await mkdir(dirname(own), { recursive: true })
    await make(fresh)
    if ((await examine(wanted, fresh, look))?.fit !== 'right' || !(await isWanted())) return undefined
    await rename(fresh, own)
    return own
  } finally {
    await rm(fresh, { force: true })
  }
}

const workPrefix = 'getting-'
/** Begins the names of folders that a program is started from, once the script of `place` names them. */
export const treePrefix = 'unpacked-'

/** Calls `use` with a folder in `programDir`, which is removed afterwards. Removes what killed calls have left there. */
export async function withWorkFolder<T>(programDir: string, use: (workDir: string) => Promise<T>): Promise<T> {
  await removeAbandoned(programDir)
  const workDir = await mkdtemp(join(programDir, workPrefix))
  try {
    return await use(workDir)
  } finally {
    await rm(workDir, { recursive: true, force: true })
  }
}

const usedMs = 1_200_000

async function removeAbandoned(dir: string): Promise<void> {
  const paths = [redisServer, bubblewrap].map(({ place }) => join(dir, place))
  const scripts = await Promise.all(paths.map((path) => readFile(path, 'latin1').catch(() => '')))
  for (const name of await readdir(dir)) {
    const isOurs = [workPrefix, treePrefix].some((prefix) => name.startsWith(prefix))
    if (!isOurs || scripts.some((script) => script.includes(`/${name}/`))) continue
    const folder = join(dir, name)
    const changedMs = (await stat(folder).catch(() => undefined))?.mtimeMs ?? Infinity
    if (changedMs > Date.now() - usedMs) continue
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
