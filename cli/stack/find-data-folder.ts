import { lstatSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isOfUser, othersMayWrite } from '#platform/ownership.ts'
import { readDataVersion } from './data-version.ts'

const folderName = '.remora'

/**
 * The data folder for commands in `cwd`: the nearest `.remora` from there upwards that an embedded stack of this user has
 * written, else the one in `cwd`, which need not be there. Folders of others, links and folders without a stack's data are
 * passed over: they may have come with somebody's repository.
 */
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
