import { randomUUID } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { Env } from '#platform/env.ts'
import { ownEntries, refuseForeign } from './refuse-foreign.ts'

/** More than a file system keeps beside its blocks: a full disk takes an empty file. */
const probeBytes = 1024 ** 2
const fullDisk = new Set(['ENOSPC', 'EDQUOT'])
const ownerOnly = 0o700

/**
 * Makes the data folder, closed to others, and the folders above it that are missing; unless it holds other things than
 * ours it is closed to others when it was there, and hides itself from git. CONFIG_003 when it cannot be made or written,
 * its disk is full, or it is not ours alone (see `refuseForeign`), which is told before anything is written. `env`: that
 * of this process, of which git is given the bare part.
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

/** CONFIG_003 for a folder or file among the data that cannot be made or written. */
export function dataNotWritable(path: string, cause: unknown): AppError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  const remedy = fullDisk.has(reason) ? 'the disk is full, free some space' : 'make it writable'
  return new AppError(
    'CONFIG_003',
    `the data cannot be kept in ${path} (${reason}): ${remedy}, or name another folder in REMORA_DATA_DIR`,
    { cause },
  )
}

/** A folder that holds other things stays as open as it is, without what is ours in it. */
async function closeOwn(dataDir: string): Promise<void> {
  const names = await readdir(dataDir)
  if (names.every((name) => ownEntries.test(name))) {
    await chmod(dataDir, ownerOnly)
    await writeFile(join(dataDir, '.gitignore'), '*\n', { flag: 'wx' }).catch(unlessThere)
  }
  for (const path of names.filter((name) => ownEntries.test(name)).map((name) => join(dataDir, name))) {
    const entry = await lstat(path).catch(() => undefined) // another command's passing file
    if (entry?.isDirectory() === true) await chmod(path, ownerOnly)
  }
}

/**
 * Folder by folder: Node's own `recursive` tries for ever where the system says ENOENT of a new folder, as /proc does.
 */
async function makeFolder(path: string, mode?: number): Promise<void> {
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory() === true) return
  if (dirname(path) !== path) await makeFolder(dirname(path))
  await mkdir(path, mode).catch(unlessThere)
}

function unlessThere(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
}
