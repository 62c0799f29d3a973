import { lstat, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { Env } from '#platform/env.ts'
import { isOfUser, othersMayWrite } from '#platform/ownership.ts'
import { gitSettings } from '#platform/git-settings.ts'
import { runProgram } from '#platform/run-program.ts'

/** What Remora makes in a data folder. */
export const ownEntries = /^(?:redis|s3|\.gitignore|stack[.-].*)$/

/** Down to Redis' files and the bucket's projects; below them are objects in numbers, and nothing is opened by a fixed name. */
const lookedAtLevels = 3
const gitMs = 20_000
const elsewhere = 'or name another folder in REMORA_DATA_DIR'

/**
 * CONFIG_003 for a data folder that somebody else may have filled: it is a link, belongs to another user or may be
 * written by one, has among our files a link or what belongs to another, or git tracks files in it. Archives and
 * repositories can bring all of these, and what is written there would be written into other files of this user. `env`:
 * that of this process, of which git is given the bare part.
 */
export async function refuseForeign(dataDir: string, env: Env): Promise<void> {
  const stats = await lstat(dataDir)
  if (stats.isSymbolicLink())
    throw refused(`${dataDir} is a link: remove it, or name what it leads to in REMORA_DATA_DIR`)
  if (!isOfUser(stats)) throw refused(`${dataDir} belongs to another user: remove it, ${elsewhere}`)
  if (othersMayWrite(stats)) {
    throw refused(`${dataDir} may be written by others: "chmod 700 ${dataDir}" if all in it is yours, ${elsewhere}`)
  }
  const names = await readdir(dataDir)
  if (names.length === 0) return
  const entries = names.filter((name) => ownEntries.test(name)).map((name) => join(dataDir, name))
  const foreign = await findForeign(entries, lookedAtLevels)
  if (foreign !== undefined) throw refused(`${foreign}: remove ${dataDir} if you do not know it, ${elsewhere}`)
  await refuseTracked(dataDir, env)
}

/** In words; undefined when all are files and folders of this user. */
async function findForeign(paths: readonly string[], levels: number): Promise<string | undefined> {
  for (const path of paths) {
    const entry = await lstat(path).catch(() => undefined)
    if (entry === undefined) continue // another command's passing file
    if (entry.isSymbolicLink()) return `${path} is a link`
    if (!isOfUser(entry)) return `${path} belongs to another user`
    if (!entry.isFile() && !entry.isDirectory()) return `${path} is neither a file nor a folder`
    if (!entry.isDirectory() || levels === 1) continue
    const below = await readdir(path).catch((): string[] => [])
    const found = await findForeign(
      below.map((name) => join(path, name)),
      levels - 1,
    )
    if (found !== undefined) return found
  }
  return undefined
}

/** What a hook of git sets for the repository it runs in is no part of the bare environment. */
async function refuseTracked(dataDir: string, env: Env): Promise<void> {
  const settings = [...gitSettings, '-c', 'safe.directory=*'] // whoever owns the repository
  const ended = await runProgram(['git', ...settings, '-C', dataDir, 'ls-files', '--cached', '--', '.'], {
    limitMs: gitMs,
    signal: new AbortController().signal,
    env,
  })
  if (ended.kind === 'absent') return
  if (ended.kind !== 'ended' || ended.code !== 0) {
    if (!(await isInRepository(dataDir))) return
    throw refused(
      `git does not say whether it tracks files in ${dataDir}: see what "git status" says there, ${elsewhere}`,
    )
  }
  if (ended.out === '') return
  throw refused(
    `git tracks files in ${dataDir}, where only Remora may write: "git rm -r ${dataDir}" if you do not know them, ${elsewhere}`,
  )
}

async function isInRepository(path: string): Promise<boolean> {
  if ((await lstat(join(path, '.git')).catch(() => undefined)) !== undefined) return true
  return dirname(path) !== path && isInRepository(dirname(path))
}

function refused(message: string): AppError {
  return new AppError('CONFIG_003', message)
}
