import { isUtf8 } from 'node:buffer'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { languageOf } from '#languages/syntax/grammars.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { treeLines } from '#languages/syntax/tree-lines.ts'
import { type CheckedPacks, checkPacks, manifestOf, manifestText } from '#stages/discover/check-packs.ts'
import { builtinQueries, listPackFolders } from '#stages/discover/query-pack.ts'
import { manifestFile } from '#stages/discover/pack-manifest.ts'
import type { CommandIo } from '../cli-context.ts'
import type { CliConfig } from '../cli-config.ts'
import { visible } from '../terminal-text.ts'

/** `dir`: the folder of packs that was named; without it, Remora's and the one of the settings. */
export type PackOptions = { dir?: string; json?: true }
type Printing = { queries: CliConfig['queries']; io: CommandIo }

/** Checks every pack. Exit code 1 on any fault. */
export async function printPackCheck({ dir, json }: PackOptions, { queries, io }: Printing): Promise<void> {
  const checked: CheckedPacks = { packs: [], faults: [] }
  for (const folder of dir === undefined ? packFolders(queries.userDir) : [dir]) {
    const ofFolder = await checkPacks(folder, { complete: folder === builtinQueries, name: queries.name })
    checked.packs.push(...ofFolder.packs)
    checked.faults.push(...ofFolder.faults)
  }
  const { packs, faults } = checked
  const document = { packs: packs.map(({ folder, manifest }) => ({ ...manifest, folder })), faults }
  io.out(json ? `${JSON.stringify(document)}\n` : visible(describeCheck(checked)))
  if (faults.length > 0) io.exit(1)
}

function packFolders(userDir: string | undefined): string[] {
  return [builtinQueries, ...(userDir === undefined ? [] : [userDir])]
}

function describeCheck({ packs, faults }: CheckedPacks): string {
  const passed = packs
    .filter(({ folder }) => !faults.some(({ file }) => file.startsWith(join(folder, '/'))))
    .map(({ manifest }) => `${manifest.language}/${manifest.pack}: PASS (${manifest.queries} queries)`)
  const failed = faults.map(({ file, line, code, fault, message }) => `${file}:${line}: ${code} ${fault}: ${message}`)
  return `${[...passed, ...failed].join('\n')}\n`
}

export async function printPackList({ dir, json }: PackOptions, { queries, io }: Printing): Promise<void> {
  const dirs = dir === undefined ? packFolders(queries.userDir) : [dir]
  const folders = (await Promise.all(dirs.map(listPackFolders))).flat()
  const views = await Promise.all(
    folders.map(async (pack) => {
      const { language, pack: name, kinds } = await manifestOf(pack)
      return { language, pack: name, kinds: ['file', ...kinds], folder: pack.folder }
    }),
  )
  const lines = views.map(({ language, pack, kinds, folder }) => {
    const origin = folder.startsWith(builtinQueries) ? '' : ` (${folder})`
    return `${language}/${pack}: ${kinds.join(', ')}${origin}\n`
  })
  io.out(json ? `${JSON.stringify({ packs: views })}\n` : visible(lines.join('')))
}

/** Writes the manifest of every pack into its folder; without `dir`, of the settings' packs, or else of Remora's. */
export async function writeManifests({ dir, json }: PackOptions, { queries, io }: Printing): Promise<void> {
  const folders = await listPackFolders(dir ?? queries.userDir ?? builtinQueries)
  const manifests = await Promise.all(folders.map(manifestOf))
  const files = folders.map(({ folder }) => join(folder, manifestFile))
  for (const [at, manifest] of manifests.entries()) await writeFile(files[at] ?? '', manifestText(manifest))
  io.out(json ? `${JSON.stringify({ packs: manifests })}\n` : files.map((file) => `wrote ${file}\n`).join(''))
}

export type TreeOptions = { language?: string; tokens?: true }

/** Prints the syntax tree of a file. DISC_003 when its language is not known, DISC_005 when it cannot be read as UTF-8. */
export async function printTree(file: string, { language, tokens }: TreeOptions, io: CommandIo): Promise<void> {
  const name = language ?? languageOf(file)
  if (name === undefined)
    throw new AppError('DISC_003', `the language of ${file} is not known; name it with --language`)
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new AppError('DISC_005', `${file} cannot be read`, { cause })
  })
  if (!isUtf8(bytes) || bytes.includes(0)) throw new AppError('DISC_005', `${file} is not UTF-8 text`)
  const text = bytes.toString()
  const { read } = await loadLanguage(name)
  const lines = read(text, (tree) => treeLines(tree, { tokens: tokens === true }))
  io.out(visible(lines.map((line) => `${line}\n`).join('')))
}
