import { lstat, mkdir } from 'node:fs/promises'
import { isOfUser, othersMayWrite } from './ownership.ts'

/**
 * Whether `path` is a folder (no link) of this user that nobody else can write: what is in it may be run. Always true
 * of a folder where the system knows no users.
 */
export async function isOwnFolder(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined)
  return stats?.isDirectory() === true && isOfUser(stats) && !othersMayWrite(stats)
}

/** Makes the folder, closed to others, if it is missing; whether it is ours then, see `isOwnFolder`. */
export async function makeOwnFolder(path: string): Promise<boolean> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch(() => {}) // it is not ours then
  return isOwnFolder(path)
}
