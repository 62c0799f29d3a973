import { AppError } from '#domain/error.ts'
import type { SourceFile } from '../choose-files.ts'
import { pathJudge } from '../unwanted-path.ts'
import { isModuleFile } from './module-map.ts'

const maxBytes = 1_000_000

/** The texts of the files that say how modules are found, by path. One that cannot be read says nothing. */
export async function readModuleFiles(
  files: readonly SourceFile[],
  read: (hash: string) => Promise<Uint8Array>,
): Promise<Map<string, string>> {
  const judge = pathJudge(files.map((file) => file.path))
  const texts = new Map<string, string>()
  for (const { path, hash, size } of files) {
    if (!isModuleFile(path) || size > maxBytes || judge(path) !== undefined) continue
    try {
      texts.set(path, Buffer.from(await read(hash)).toString('utf8'))
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'DISC_005')) throw error
    }
  }
  return texts
}
