import { access, constants, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

/**
 * The full path of the program `name` in the first folder of `searchPath` (as PATH is written) that has it, or
 * undefined. A file that may not be executed does not count, nor does a folder that is named from the working folder,
 * whose content came with somebody's repository.
 */
export async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  for (const folder of searchPath.split(delimiter).filter((entry) => isAbsolute(entry))) {
    const path = join(folder, name)
    if (await isExecutable(path)) return path
  }
  return undefined
}

/** Whether there is a file at `path` that this user may execute. */
async function isExecutable(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined)
  if (stats?.isFile() !== true) return false
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
