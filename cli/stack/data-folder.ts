import { randomUUID } from 'node:crypto'
import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '#domain/error.ts'

/**
 * Makes the data folder, and the folders above it that are missing; one that it makes hides itself from git. CONFIG_003
 * when it cannot be made or written.
 */
export async function makeDataFolder(dataDir: string): Promise<void> {
  try {
    const isNew = await makeFolder(dataDir)
    if (isNew) await writeFile(join(dataDir, '.gitignore'), '*\n') // one that was there may hold other things
    const probe = join(dataDir, `.probe-${randomUUID()}`)
    await writeFile(probe, '')
    await rm(probe)
  } catch (error) {
    throw dataNotWritable(dataDir, error)
  }
}

/** CONFIG_003 for a folder or file among the data that cannot be made or written. */
export function dataNotWritable(path: string, cause: unknown): AppError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  return new AppError(
    'CONFIG_003',
    `the data cannot be kept in ${path} (${reason}): make it writable, or name another folder in REMORA_DATA_DIR`,
    { cause },
  )
}

/** Whether the folder is new. Folder by folder: Node's own `recursive` tries for ever where the system says ENOENT of a new folder, as /proc does. */
async function makeFolder(path: string): Promise<boolean> {
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory() === true) return false
  if (dirname(path) !== path) await makeFolder(dirname(path))
  try {
    await mkdir(path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
