import { randomUUID } from 'node:crypto'
import { chmod, lstat, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { lstatSync } from 'node:fs'
import { AppError } from '#domain/error.ts'
import type { Env } from '#platform/env.ts'
import { gitSettings, runProgram } from '#platform/run-program.ts'
import { isOfUser, makeFolder, othersMayWrite, readOwnFile } from '#platform/own-file.ts'

/** Larger than what a file system stores without a block: a full disk still accepts an empty file. */
const probeBytes = 1024 ** 2
const fullDisk = new Set(['ENOSPC', 'EDQUOT'])
const ownerOnly = 0o700

/**
 * Makes the data folder, closed to others, and the missing folders above it. An existing folder with only our files is
 * closed and hidden from git, too. CONFIG_003 when it cannot be made or written, its disk is full, or, before any
 * write, when it is not ours alone (`refuseForeign`). Git gets only the bare part of `env`.
 */
export async function makeDataFolder(dataDir: string, env: Env = {}): Promise<void> {
  try {
    await makeFolder(dataDir, ownerOnly)
    await refuseForeign(dataDir, env)
    await closeOwn(dataDir)
    const probe = join(dataDir, `.probe-${randomUUID()}`)
    try {
      await writeFile(probe, Buffer.alloc(probeBytes), { flag: 'wx' })
    } finally {
      await rm(probe, { force: true })
    }
  } catch (error) {
    throw error instanceof AppError ? error : dataNotWritable(dataDir, error)
  }
}

/** Makes a CONFIG_003 for a folder or file among the data that cannot be made or written. */
export function dataNotWritable(path: string, cause: unknown): AppError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  const remedy = fullDisk.has(reason) ? 'the disk is full, free some space' : 'make it writable'
  return new AppError(
    'CONFIG_003',
    `the data cannot be kept in ${path} (${reason}): ${remedy}, or name another folder in REMORA_DATA_DIR`,
    { cause },
  )
}

/** Closes the folder to others; of one that holds other things, only our own entries. */
async function closeOwn(dataDir: string): Promise<void> {
  const names = await readdir(dataDir)
  if (names.every((name) => ownEntries.test(name))) {
    await chmod(dataDir, ownerOnly)
    await writeFile(join(dataDir, '.gitignore'), '*\n', { flag: 'wx' }).catch(unlessThere)
  }
  for (const path of names.filter((name) => ownEntries.test(name)).map((name) => join(dataDir, name))) {
    const entry = await lstat(path).catch(() => undefined) // another command's temporary file
    if (entry?.isDirectory() === true) await chmod(path, ownerOnly)
  }
}

function unlessThere(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
}

const ownEntries = /^(?:redis|objects|github|\.gitignore|stack[.-].*)$/

/** Down to Redis' files and the projects' objects; below are very many objects, none opened by a fixed name. */
const lookedAtLevels = 3
const gitMs = 20_000
const elsewhere = 'or name another folder in REMORA_DATA_DIR'

/**
 * Throws CONFIG_003 for a data folder that somebody else may have filled: a link, one that another user owns or may write, one
 * with a link or a file of another user among our files, or with files that git tracks. Archives and repositories can
 * bring all of these, and writing there could overwrite other files of this user.
 */
async function refuseForeign(dataDir: string, env: Env): Promise<void> {
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

async function findForeign(paths: readonly string[], levels: number): Promise<string | undefined> {
  for (const path of paths) {
    const entry = await lstat(path).catch(() => undefined)
    if (entry === undefined) continue // another command's temporary file
    if (entry.isSymbolicLink()) return `${path} is a link`
    if (!isOfUser(entry)) return `${path} belongs to another user`
    if (!entry.isFile() && !entry.isDirectory()) return `${path} is neither a file nor a folder`
    if (!entry.isDirectory() || levels === 1) continue
    const below = await readdir(path).catch((): string[] => [])
    const foreign = await findForeign(
      below.map((name) => join(path, name)),
      levels - 1,
    )
    if (foreign !== undefined) return foreign
  }
  return undefined
}

/** The variables that a git hook sets for its own repository are not in the bare environment. */
async function refuseTracked(dataDir: string, env: Env): Promise<void> {
  const settings = [...gitSettings, '-c', 'safe.directory=*'] // Git refuses a repository of another user otherwise
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

/** The version of the data that this Remora writes. It grows when another Remora could not continue with the data. */
export const dataVersion = 2

/** 'unknown': a mark that is no version, or that others may have written. Undefined: no mark. */
export function readDataVersion(dataDir: string): number | 'unknown' | undefined {
  const mark = readOwnFile(markPath(dataDir), { maxBytes: 100 })
  if (mark.kind === 'absent') return undefined
  return mark.kind === 'text' && /^[1-9]\d{0,5}\n?$/.test(mark.text) ? Number(mark.text) : 'unknown'
}

/** Marks the folder if it has no mark. CONFIG_006, before any change, when another version wrote it. */
export async function claimDataVersion(dataDir: string): Promise<void> {
  const version = readDataVersion(dataDir)
  if (version === dataVersion) return
  if (version !== undefined) throw notOurs(dataDir, version)
  const temporary = `${markPath(dataDir)}.${randomUUID()}`
  try {
    await writeFile(temporary, `${dataVersion}\n`, { flag: 'wx' })
    await rename(temporary, markPath(dataDir))
  } catch (error) {
    throw dataNotWritable(dataDir, error)
  }
}

function notOurs(dataDir: string, version: number | 'unknown'): AppError {
  const what = version === 'unknown' ? 'are of a version that cannot be read' : `are of version ${version}`
  return new AppError(
    'CONFIG_006',
    `the data in ${dataDir} ${what}, and this Remora knows version ${dataVersion}: use the Remora that wrote them, or name another folder in REMORA_DATA_DIR`,
  )
}

function markPath(dataDir: string): string {
  return join(dataDir, 'stack-version')
}

const folderName = '.remora'

/** Returns the nearest `.remora` upwards that this user's stack has written, else the one in `cwd`; others may have come with a repository. */
export function findDataFolder(cwd: string): string {
  const start = resolve(cwd)
  for (let dir = start; ; dir = dirname(dir)) {
    const path = join(dir, folderName)
    if (isDataFolder(path)) return path
    if (dirname(dir) === dir) return join(start, folderName)
  }
}

function isDataFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory() !== true || !isOfUser(stats) || othersMayWrite(stats)) return false
  return readDataVersion(path) !== undefined
}
