import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { repositoryFactsVersion } from '#languages/python/repository-facts.ts'
import { grammarFile, grammarVersion, parserVersion } from '#languages/syntax/grammars.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { compileQueryFile, kindsOf, type QueryFile } from './compile-query.ts'
import { manifestStillTrue } from './pack-manifest.ts'
import { hashReferenceFile, readReferenceFile, type ReferenceFile, referenceFile } from './edges/reference-file.ts'

/** Holds the `.scm` files of one language, in file name order. Plain data: it is sent to the parsing threads. */
export type QueryPack = {
  language: string
  name: string
  folder: string
  files: readonly QueryFile[]
  /** Lists the kinds that its nodes can have, sorted, without `file`. */
  kinds: readonly string[]
  /** Changes with any file's content, the grammar, the parser, or the way nodes are read from matches. */
  hash: string
  /** The query for what a file refers to; only where it was asked for and the pack has one. */
  references?: ReferenceFile
  /** Changes with the facts about the repository that are found in each file (Python only); absent where none were asked for. */
  facts?: string
}

/** Raised whenever the same bytes give other nodes or another reason to skip, so that old cache entries are not used. */
export const indexVersion = 9

export const builtinQueries: string = fileURLToPath(new URL('../../queries', import.meta.url))

export type PackPlaces = {
  builtinDir?: string
  userDir?: string
  name?: string
  references?: boolean
  /** Asks also for what a run's survey needs of each Python file. */
  facts?: boolean
}

/**
 * Loads the pack called `name` (default: `default`) of every language that has one. A language's folder under `userDir`
 * replaces the built-in one whole. DISC_001: a folder is missing or laid out otherwise, or has no such pack or no queries.
 */
export async function loadQueryPacks(places: PackPlaces = {}): Promise<ReadonlyMap<string, QueryPack>> {
  const { builtinDir = builtinQueries, userDir, name = defaultPack, ...wanted } = places
  const folders = new Map<string, string>()
  for (const dir of userDir === undefined ? [builtinDir] : [builtinDir, userDir]) {
    for (const { language, pack, folder } of await listPackFolders(dir))
      if (pack === name) folders.set(language, folder)
  }
  if (folders.size === 0) throw new AppError('DISC_001', `no query pack is named ${JSON.stringify(name)}`)
  const packs = await Promise.all(
    Array.from(folders, ([language, folder]) => loadPack({ language, pack: name, folder }, wanted)),
  )
  return new Map(packs.map((pack) => [pack.language, pack]))
}

/**
 * Compiles the pack to be sure of it, unless its manifest says so of these files. DISC_001 when it has no `.scm` file;
 * DISC_002 when one does not compile, with its line; DISC_003 when the language has no grammar.
 */
async function loadPack(
  { language, pack, folder }: PackFolder,
  { references, facts }: Pick<PackPlaces, 'references' | 'facts'>,
): Promise<QueryPack> {
  const files = await readQueryFiles(folder)
  if (files.length === 0) throw new AppError('DISC_001', `query pack ${folder} has no .scm file`)
  const manifest = await manifestStillTrue({ language, folder }, files)
  const { kinds } = manifest ?? (await measureQueries(language, files))
  const grammarHash = manifest?.toolchain.grammar_sha256 ?? sha256(await readFile(grammarFile(language)))
  const referring = references === true ? await readReferenceFile(folder) : undefined
  const hash = packHash(language, grammarHash, files)
  const hasFacts = facts === true && language === 'python'
  const version = sha256(JSON.stringify([repositoryFactsVersion, grammarHash, parserVersion()]))
  const made = { language, name: pack, folder, files, kinds, hash, ...(hasFacts && { facts: version }) }
  return referring === undefined ? made : { ...made, references: hashReferenceFile(referring, grammarHash) }
}

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

/** Reads the `.scm` files that make nodes, by name. DISC_001 when the folder cannot be listed, DISC_005 when a file cannot be read. */
export async function readQueryFiles(folder: string): Promise<QueryFile[]> {
  const { files, broken } = await folderEntries(folder)
  const names = [...files.filter((name) => name !== referenceFile), ...broken]
  return Promise.all(names.filter((name) => name.endsWith('.scm')).map((name) => readQueryFile(join(folder, name))))
}

async function readQueryFile(path: string): Promise<QueryFile> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new AppError('DISC_005', `query file ${path} cannot be read`, { cause })
  })
  return { path, text }
}

export type PackFolder = { language: string; pack: string; folder: string }

/** Something in a folder of packs that is not in the place of a pack; `file` is the folder. */
type LayoutFault = { file: string; message: string }

export type PackLayout = { packs: PackFolder[]; faults: LayoutFault[] }

export const defaultPack = 'default'

const layout = 'the layout is <language>/<pack>/*.scm'

/** Every `<language>/<pack>/` folder under `dir`, sorted. DISC_001 when something in `dir` is laid out in another way. */
export async function listPackFolders(dir: string): Promise<PackFolder[]> {
  const { packs, faults } = await readPackLayout(dir)
  const [first] = faults
  if (first !== undefined) throw new AppError('DISC_001', `${first.file}: ${first.message}`)
  return packs
}

/** Lists what `listPackFolders` does, with everything that is laid out in another way. DISC_001 when `dir` cannot be listed. */
export async function readPackLayout(dir: string): Promise<PackLayout> {
  const top = await folderEntries(dir)
  const faults = [...strayQueries(dir, top.files, 'python'), ...lost(dir, top.broken)]
  if (top.folders.length === 0 && faults.length === 0)
    faults.push({ file: dir, message: `no folder of a language in it: ${layout}` })
  const layouts = await Promise.all(top.folders.map((language) => readLanguageFolder(join(dir, language), language)))
  return {
    packs: layouts.flatMap(({ packs }) => packs),
    faults: [faults, ...layouts.map((language) => language.faults)].flat(),
  }
}

async function readLanguageFolder(folder: string, language: string): Promise<PackLayout> {
  const { folders, files, broken } = await folderEntries(folder)
  const packs = folders.map((pack) => ({ language, pack, folder: join(folder, pack) }))
  const faults = [...strayQueries(folder, files, language), ...lost(folder, broken)]
  if (packs.length > 0 || faults.length > 0) return { packs, faults }
  return { packs, faults: [{ file: folder, message: `no pack in it: ${layout}` }] }
}

function strayQueries(folder: string, files: readonly string[], language: string): LayoutFault[] {
  const [first] = files.filter((name) => name.endsWith('.scm'))
  if (first === undefined) return []
  const message = `${first} lies in no pack: ${layout}, such as ${language}/${defaultPack}/${first}`
  return [{ file: folder, message }]
}

function lost(folder: string, broken: readonly string[]): LayoutFault[] {
  return broken.map((name) => ({ file: folder, message: `${name} is a link that leads nowhere` }))
}

/** Without this fault nothing would report that these packs are not used. `default` counts where no name is set. */
export function unusedLanguages(dir: string, packs: readonly PackFolder[], name: string): LayoutFault[] {
  const used = [...new Set([name, defaultPack])]
  return Array.from(Map.groupBy(packs, (pack) => pack.language)).flatMap(([language, ofLanguage]) => {
    const names = ofLanguage.map(({ pack }) => pack)
    if (used.some((pack) => names.includes(pack))) return []
    const lack = `no pack named ${quoted(used, ' or ')} in it, only ${quoted(names, ', ')}`
    const advice = 'rename it, or set discovery.query_pack; packs for another setting belong in a folder of their own'
    return [{ file: join(dir, language), message: `${lack}: ${advice}` }]
  })
}

function quoted(names: readonly string[], joint: string): string {
  return names.map((name) => JSON.stringify(name)).join(joint)
}

/** All names are sorted; `broken` are links that lead nowhere. */
type FolderEntries = { folders: string[]; files: string[]; broken: string[] }

/** Follows links, and leaves out hidden names, which belong to version control and editors. DISC_001 when it cannot be listed. */
async function folderEntries(folder: string): Promise<FolderEntries> {
  const all = await readdir(folder).catch((cause: unknown) => {
    throw new AppError('DISC_001', `query folder ${folder} cannot be read`, { cause })
  })
  const names = all.filter((name) => !name.startsWith('.')).toSorted()
  const entries: FolderEntries = { folders: [], files: [], broken: [] }
  for (const name of names) {
    const stats = await stat(join(folder, name)).catch(() => undefined)
    if (stats === undefined) entries.broken.push(name)
    else if (stats.isDirectory()) entries.folders.push(name)
    else if (stats.isFile()) entries.files.push(name)
  }
  return entries
}
