import { AppError } from '#domain/error.ts'
import type { SourceTree } from '../choose-files.ts'
import { pathJudge } from '../unwanted/unwanted-path.ts'
import { isModuleFile } from './module-map.ts'

const maxBytes = 1_000_000

/** The texts of the files that say how modules are found, by path. One that cannot be read says nothing. */
export async function readModuleFiles(
  { files, rules }: SourceTree,
  read: (hash: string) => Promise<Uint8Array>,
): Promise<Map<string, string>> {
  const judge = pathJudge({ paths: files.map((file) => file.path), rules, include: new Set() })
  const texts = new Map<string, string>()
  for (const { path, hash, size } of files) {
    if (!isModuleFile(path) || size > maxBytes || judge.unwanted(path) !== undefined) continue
    try {
      texts.set(path, Buffer.from(await read(hash)).toString('utf8'))
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'DISC_005')) throw error
    }
  }
  return texts
}
