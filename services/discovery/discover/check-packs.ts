import { join } from 'node:path'
import { AppError, type ErrorCode } from '#domain/error.ts'
import { languages } from '#syntax/grammars.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { checkQueryFile, type PackFault } from './check-query.ts'
import { checkReferenceFile } from './edges/check-reference-file.ts'
import { readReferenceFile } from './edges/reference-file.ts'
import { manifestFaults, manifestOf } from './pack-manifest.ts'
import { manifestFile, type PackManifest } from './recorded-manifest.ts'
import { listPackFolders, type PackFolder, readQueryFiles } from './query-pack.ts'

export type CheckedPacks = { packs: (PackFolder & { manifest: PackManifest })[]; faults: PackFault[] }

/**
 * Checks every pack under `dir`; a fault in one hides none in another. `complete` demands a `default` pack for every
 * language with a grammar, as the built-in folder has it. `packs` are those whose files all compile.
 */
export async function checkPacks(dir: string, options: { complete: boolean }): Promise<CheckedPacks> {
  const checked: CheckedPacks = { packs: [], faults: [] }
  const folders = await orFault(() => listPackFolders(dir), dir, 'missing_folder', checked.faults)
  for (const folder of folders ?? []) await checkPack(folder, checked)
  for (const language of options.complete ? languages : []) {
    if (!folders?.some((folder) => folder.language === language && folder.pack === 'default')) {
      const file = join(dir, language, 'default')
      checked.faults.push({
        code: 'DISC_001',
        fault: 'missing_folder',
        file,
        line: 1,
        message: `no pack for ${language}`,
      })
    }
  }
  return checked
}

async function checkPack(pack: PackFolder, checked: CheckedPacks): Promise<void> {
  const { folder } = pack
  const before = checked.faults.length
  const grammar = await orFault(() => loadLanguage(pack.language), folder, 'unknown_language', checked.faults)
  if (grammar === undefined) return
  const files = await readQueryFiles(folder)
  if (files.length === 0) {
    checked.faults.push({
      code: 'DISC_001',
      fault: 'empty_folder',
      file: folder,
      line: 1,
      message: 'no .scm file in it',
    })
  }
  for (const file of files) checked.faults.push(...checkQueryFile(grammar.language, file))
  const references = await readReferenceFile(folder)
  if (references !== undefined) checked.faults.push(...checkReferenceFile(grammar.language, references))
  if (checked.faults.length > before) return
  const manifest = await manifestOf(pack)
  checked.packs.push({ ...pack, manifest })
  for (const message of await manifestFaults(folder, manifest)) {
    const file = join(folder, manifestFile)
    checked.faults.push({ code: 'DISC_004', fault: 'hash_mismatch', file, line: 1, message })
  }
}

/** The result of `work`, or undefined and its AppError as a fault. */
async function orFault<T>(
  work: () => Promise<T>,
  file: string,
  fault: PackFault['fault'],
  faults: PackFault[],
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const code: ErrorCode = error.code
    faults.push({ code, fault, file, line: 1, message: error.message })
    return undefined
  }
}
