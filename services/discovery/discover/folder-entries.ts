import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'

/** Names, sorted. `broken` is what there is no way to look at: links that lead nowhere. */
export type FolderEntries = { folders: string[]; files: string[]; broken: string[] }

/**
 * What lies in a folder of the user's, by what links lead to: they are the user's own. Hidden names are left out; they
 * belong to version control, editors and file systems. DISC_001 when the folder cannot be listed.
 */
export async function folderEntries(folder: string): Promise<FolderEntries> {
  const names = (await listFolder(folder)).filter((name) => !name.startsWith('.')).toSorted()
  const entries: FolderEntries = { folders: [], files: [], broken: [] }
  const found = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => undefined)))
  for (const [at, name] of names.entries()) {
    const stats = found[at]
    if (stats === undefined) entries.broken.push(name)
    else if (stats.isDirectory()) entries.folders.push(name)
    else if (stats.isFile()) entries.files.push(name)
  }
  return entries
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (cause) {
    throw new AppError('DISC_001', `query folder ${folder} cannot be read`, { cause })
  }
}
