import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { readOwnFile } from '#platform/own-file.ts'
import { dataNotWritable } from './data-folder.ts'

/** What this version writes into a data folder. It grows when an older version could not go on with what is there. */
export const dataVersion = 1

/**
 * The version of the data in `dataDir`; undefined when there is no mark, as in a folder of before there was one, whose
 * data are those of version 1. 'unknown' for a mark that is no version, or that others may have written.
 */
export function readDataVersion(dataDir: string): number | 'unknown' | undefined {
  const mark = readOwnFile(markPath(dataDir), { maxBytes: 100 })
  if (mark.kind === 'absent') return undefined
  return mark.kind === 'text' && /^[1-9]\d{0,5}\n?$/.test(mark.text) ? Number(mark.text) : 'unknown'
}

/**
 * Marks a data folder with the version of what is written there, if it has no mark. CONFIG_006, before anything is
 * touched, when a newer version wrote it.
 */
export async function claimDataVersion(dataDir: string): Promise<void> {
  const found = readDataVersion(dataDir)
  if (found === dataVersion) return
  if (found !== undefined) throw notOurs(dataDir, found)
  const temporary = `${markPath(dataDir)}.${randomUUID()}`
  try {
    await writeFile(temporary, `${dataVersion}\n`, { flag: 'wx' })
    await rename(temporary, markPath(dataDir))
  } catch (error) {
    throw dataNotWritable(dataDir, error)
  }
}

function notOurs(dataDir: string, found: number | 'unknown'): AppError {
  const what = found === 'unknown' ? 'are of a version that cannot be read' : `are of version ${found}`
  return new AppError(
    'CONFIG_006',
    `the data in ${dataDir} ${what}, and this Remora knows version ${dataVersion}: use the newer Remora that wrote them, or name another folder in REMORA_DATA_DIR`,
  )
}

function markPath(dataDir: string): string {
  return join(dataDir, 'stack-version')
}
