import { basename, dirname, join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { AppError } from '#domain/error.ts'
import { grammarFile, grammarVersion, languages, parserVersion } from '#languages/syntax/grammars.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { sha256 } from '#domain/ids.ts'
import { checkQueryFile, type PackFault } from './check-query.ts'
import { checkReferenceFile, readReferenceFile } from './edges/reference-file.ts'
import { manifestFile, type PackManifest, readManifest } from './pack-manifest.ts'
import {
  defaultPack,
  measureQueries,
  type PackFolder,
  readPackLayout,
  readQueryFiles,
  unusedLanguages,
} from './query-pack.ts'

export type CheckedPacks = { packs: (PackFolder & { manifest: PackManifest })[]; faults: PackFault[] }

/** `unreadable`: those of the faults whose own message names the file that cannot be read. */
type Checking = CheckedPacks & { unreadable: Set<PackFault> }

type CheckOptions = {
  /** Requires a `default` pack for every language with a grammar, as the built-in folder has it. */
  complete: boolean
  /** The pack in use (default: `default`): a language that has neither is a fault. */
  name?: string | undefined
}

/** Checks every pack under `dir`; a fault in one does not hide faults in another. `packs` are those whose files all compile. */
export async function checkPacks(dir: string, { complete, name = defaultPack }: CheckOptions): Promise<Checking> {
  const checked: Checking = { packs: [], faults: [], unreadable: new Set() }
  const layout = await orFault(() => readPackLayout(dir), dir, 'missing_folder', checked)
  const { packs, faults } = layout ?? { packs: [], faults: [] }
  checked.faults.push(...[...faults, ...unusedLanguages(dir, packs, name)].map(missingFolder))
  for (const pack of packs) await checkPack(pack, checked)
  for (const language of complete ? languages : []) {
    if (!packs.some((pack) => pack.language === language && pack.pack === defaultPack)) {
      const file = join(dir, language, defaultPack)
      checked.faults.push(missingFolder({ file, message: `no pack for ${language}` }))
    }
  }
  return checked
}

function missingFolder({ file, message }: { file: string; message: string }): PackFault {
  return { code: 'DISC_001', fault: 'missing_folder', file, line: 1, message }
}

async function checkPack(pack: PackFolder, checked: Checking): Promise<void> {
  const { folder } = pack
  const before = checked.faults.length
  const grammar = await orFault(() => loadLanguage(pack.language), folder, 'unknown_language', checked)
  if (grammar === undefined) return
  const files = await orFault(() => readQueryFiles(folder), folder, 'unreadable_file', checked)
  if (files === undefined) return
  if (files.length === 0) {
    const message = 'no .scm file in it'
    checked.faults.push({ code: 'DISC_001', fault: 'empty_folder', file: folder, line: 1, message })
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

/** Returns the result of `work`, or undefined, and notes its AppError as a fault. */
async function orFault<T>(
  work: () => Promise<T>,
  file: string,
  fault: 'missing_folder' | 'unknown_language' | 'unreadable_file',
  { faults, unreadable }: Checking,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const own = { code: error.code, fault, file, line: 1, message: error.message }
    faults.push(own)
    if (fault !== 'unknown_language') unreadable.add(own)
    return undefined
  }
}

/** DISC_002 when a file does not compile. */
export async function manifestOf({ language, pack, folder }: PackFolder): Promise<PackManifest> {
  const files = await readQueryFiles(folder)
  const references = await readReferenceFile(folder)
  const hashed = references === undefined ? files : [...files, references]
  return {
    language,
    pack,
    ...(await measureQueries(language, files)),
    files: Object.fromEntries(hashed.map((file) => [basename(file.path), sha256(file.text)])),
    toolchain: {
      grammar: grammarVersion(language),
      grammar_sha256: sha256(await readFile(grammarFile(language))),
      parser: parserVersion(),
    },
  }
}

const lineWidth = 120

/** Writes a manifest in the formatter's style: a list is on one line if it fits. */
export function manifestText(manifest: PackManifest): string {
  const text = JSON.stringify(manifest, null, 2)
  const lists = text.replaceAll(/^( *"\w+": )\[\n[^\][{}]*\](,?)$/gm, (lines) => {
    const line = lines.replaceAll(/\n\s+/g, ' ').replace('[ ', '[').replace(/\s+\]/, ']')
    return line.length > lineWidth ? lines : line
  })
  return `${lists}\n`
}

async function manifestFaults(folder: string, current: PackManifest): Promise<string[]> {
  const stored = await readManifest(folder)
  if (stored === 'absent') return [`there is no manifest; ${wayToWriteIt(folder)}`]
  if (stored === 'unreadable') return [`it is not a manifest; ${wayToWriteIt(folder)}`]
  const names = new Set([...Object.keys(stored.files), ...Object.keys(current.files)])
  const differing = [...names].filter((name) => stored.files[name] !== current.files[name])
  const faults = differing.toSorted().map((name) => `${name} is not the file that was recorded`)
  const same = JSON.stringify({ ...stored, files: {} }) === JSON.stringify({ ...current, files: {} })
  if (!same && faults.length === 0) faults.push('it was recorded with other kinds, counts or toolchain versions')
  return faults.map((fault) => `${fault}; when that is meant, ${wayToWriteIt(folder)}`)
}

function wayToWriteIt(folder: string): string {
  return `write it with "remora queries manifest --dir ${dirname(dirname(folder))}"`
}
