import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import { grammarFile, grammarVersion, parserVersion } from '#syntax/grammars.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { compileQueryFile, kindsOf, type QueryFile } from './compile-query.ts'
import { folderEntries } from './folder-entries.ts'
import { defaultPack, listPackFolders, type PackFolder } from './pack-folders.ts'
import { manifestStillTrue } from './recorded-manifest.ts'
import { hashReferenceFile, type ReferenceFile, readReferenceFile, referenceFile } from './edges/reference-file.ts'

/** The `.scm` files of one language, in file name order. Plain data: it is sent to the parsing threads. */
export type QueryPack = {
  language: string
  name: string
  folder: string
  files: readonly QueryFile[]
  /** What its nodes can be called, sorted; `file` comes besides. */
  kinds: readonly string[]
  /** Changes with any file's content, the grammar, the parser, or the way nodes are read from matches. */
  hash: string
  /** The query for what a file refers to; only where it was asked for and the pack has one. */
  references?: ReferenceFile
}

/**
 * Raised whenever the same bytes give other nodes or are passed over for another reason, so that old cache entries are
 * not met again.
 */
export const indexVersion = 8

/** The packs that come with Remora. */
export const builtinQueries: string = fileURLToPath(new URL('../../../queries', import.meta.url))

export type PackPlaces = {
  builtinDir?: string
  userDir?: string
  name?: string
  /** Whether references are looked for besides nodes. */
  references?: boolean
}

/**
 * The pack called `name` (default: `default`) of every language that has one. A language's folder under `userDir`
 * replaces the built-in one whole. DISC_001: a folder is missing or laid out in another way, has no pack of that name, or a
 * pack has no queries.
 */
export async function loadQueryPacks(places: PackPlaces = {}): Promise<ReadonlyMap<string, QueryPack>> {
  const { builtinDir = builtinQueries, userDir, name = defaultPack, references = false } = places
  const folders = new Map<string, string>()
  for (const dir of userDir === undefined ? [builtinDir] : [builtinDir, userDir]) {
    for (const { language, pack, folder } of await listPackFolders(dir))
      if (pack === name) folders.set(language, folder)
  }
  if (folders.size === 0) throw new AppError('DISC_001', `no query pack is named ${JSON.stringify(name)}`)
  const packs = await Promise.all(
    Array.from(folders, ([language, folder]) => loadPack({ language, pack: name, folder }, references)),
  )
  return new Map(packs.map((pack) => [pack.language, pack]))
}

/**
 * Reads one pack folder, and compiles it to be sure of it unless its manifest says so of these files. DISC_001 when it
 * has no `.scm` file; DISC_002 when one
 * does not compile, with its line; DISC_003 when the language has no grammar.
 */
async function loadPack({ language, pack, folder }: PackFolder, references: boolean): Promise<QueryPack> {
  const files = await readQueryFiles(folder)
  if (files.length === 0) throw new AppError('DISC_001', `query pack ${folder} has no .scm file`)
  const manifest = await manifestStillTrue({ language, folder }, files)
  const { kinds } = manifest ?? (await measureQueries(language, files))
  const grammarHash = manifest?.toolchain.grammar_sha256 ?? sha256(await readFile(grammarFile(language)))
  const referring = references ? await readReferenceFile(folder) : undefined
  const hash = packHash(language, grammarHash, files)
  const found = { language, name: pack, folder, files, kinds, hash }
  return referring === undefined ? found : { ...found, references: hashReferenceFile(referring, grammarHash) }
}

/** What a pack's files hold: the kinds its nodes can get, sorted; its patterns; the captures its files name. */
export async function measureQueries(language: string, files: readonly QueryFile[]) {
  const grammar = await loadLanguage(language)
  const kinds = new Set<string>()
  let queries = 0
  let captures = 0
  for (const file of files) {
    const query = compileQueryFile(grammar.language, file)
    for (const kind of kindsOf(query)) kinds.add(kind)
    queries += query.patternCount()
    captures += query.captureNames.length
    query.delete()
  }
  return { kinds: [...kinds].toSorted(), queries, captures }
}

function packHash(language: string, grammarHash: string, files: readonly QueryFile[]): string {
  const contents = files.map((file) => [basename(file.path), file.text])
  return sha256(JSON.stringify([indexVersion, grammarVersion(language), grammarHash, parserVersion(), contents]))
}

/**
 * The `.scm` files of a folder that make nodes, by name. DISC_001 when it cannot be listed, DISC_005 when one cannot be
 * read or any `.scm` is a link that leads nowhere.
 */
export async function readQueryFiles(folder: string): Promise<QueryFile[]> {
  const { files, broken } = await folderEntries(folder)
  const queries = files.filter((name) => name.endsWith('.scm') && name !== referenceFile)
  const lost = broken.filter((name) => name.endsWith('.scm'))
  return Promise.all([...queries, ...lost].map((name) => readQueryFile(join(folder, name))))
}

async function readQueryFile(path: string): Promise<QueryFile> {
  try {
    return { path, text: await readFile(path, 'utf8') }
  } catch (cause) {
    throw new AppError('DISC_005', `query file ${path} cannot be read`, { cause })
  }
}
