import { isUtf8 } from 'node:buffer'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { AppError } from '#domain/error.ts'
import { languageOf } from '#syntax/grammars.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { treeLines } from '#syntax/tree-lines.ts'
import { checkPacks, type CheckedPacks } from '../../services/discovery/discover/check-packs.ts'
import { manifestOf, manifestText } from '../../services/discovery/discover/pack-manifest.ts'
import { manifestFile } from '../../services/discovery/discover/recorded-manifest.ts'
import { listPackFolders } from '../../services/discovery/discover/pack-folders.ts'
import { builtinQueries } from '../../services/discovery/discover/query-pack.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../visible.ts'
import type { CommandIo } from '../command-io.ts'
import { orInterrupted } from '../or-interrupted.ts'

type QueriesOptions = { dir?: string; json?: true }
type TreeOptions = { language?: string; tokens?: true }

/** `remora queries check | list | manifest | tree`: the query packs, checked, listed, recorded; what they are run on. */
export function addQueriesCommand(
  program: Command,
  { io, signal, config }: Pick<CliContext, 'io' | 'signal' | 'config'>,
): void {
  const { userDir, name } = config.queries
  const queries = program.command('queries').description('check, list and record the query packs; look at syntax trees')
  const subcommand = (verb: string, description: string, usual: string) =>
    queries
      .command(verb)
      .description(description)
      .option('--dir <folder>', `folder of the packs, <language>/<pack>/*.scm (default: ${usual})`)
      .option('--json', 'print one JSON document')
  const both = 'that of Remora, and discovery.queries_dir'
  const dirsOf = ({ dir }: QueriesOptions) =>
    dir === undefined ? [builtinQueries, ...(userDir === undefined ? [] : [userDir])] : [dir]
  subcommand('check', 'check every pack; exit code 1 on any fault', both).action((options) =>
    orInterrupted(check(dirsOf(options), { ...options, name }, io), signal),
  )
  subcommand('list', 'list the packs and their node kinds', both).action((options) =>
    orInterrupted(list(dirsOf(options), options, io), signal),
  )
  const own = 'discovery.queries_dir, else that of Remora'
  subcommand('manifest', 'write the manifest of every pack', own).action((options) =>
    orInterrupted(writeManifests(options.dir ?? userDir ?? builtinQueries, options, io), signal),
  )
  queries
    .command('tree')
    .description('print the syntax tree of a file, as queries see it')
    .argument('<file>', 'source file')
    .option('--language <name>', 'its language, if its name does not say it')
    .option('--tokens', 'also what has no type of its own: keywords, operators, brackets')
    .action((file: string, options: TreeOptions) => orInterrupted(printTree(file, options, io), signal))
}

async function printTree(file: string, { language, tokens }: TreeOptions, io: CommandIo): Promise<void> {
  const name = language ?? languageOf(file)
  if (name === undefined) throw new AppError('DISC_003', `no language has such files: ${file}; name one: --language`)
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new AppError('DISC_005', `${file} cannot be read`, { cause })
  })
  if (!isUtf8(bytes) || bytes.includes(0)) throw new AppError('DISC_005', `${file} is no text in UTF-8`)
  const text = bytes.toString()
  const { read } = await loadLanguage(name)
  const lines = read(text, (tree) => treeLines(tree, { tokens: tokens === true }))
  io.out(visible(lines.map((line) => `${line}\n`).join('')))
}

type CheckOptions = Pick<QueriesOptions, 'json'> & { name: string | undefined }

async function check(dirs: readonly string[], { json, name }: CheckOptions, io: CommandIo): Promise<void> {
  const checked: CheckedPacks = { packs: [], faults: [] }
  for (const dir of dirs) {
    const { packs, faults } = await checkPacks(dir, { complete: dir === builtinQueries, name })
    checked.packs.push(...packs)
    checked.faults.push(...faults)
  }
  io.out(json ? `${JSON.stringify(checkView(checked))}\n` : visible(describeCheck(checked)))
  if (checked.faults.length > 0) io.exit(1)
}

function checkView({ packs, faults }: CheckedPacks) {
  return { packs: packs.map(({ folder, manifest }) => ({ ...manifest, folder })), faults }
}

function describeCheck({ packs, faults }: CheckedPacks): string {
  const passed = packs
    .filter(({ folder }) => !faults.some(({ file }) => file.startsWith(join(folder, '/'))))
    .map(({ manifest }) => `${manifest.language}/${manifest.pack}: PASS (${manifest.queries} queries)`)
  const failed = faults.map(({ file, line, code, fault, message }) => `${file}:${line}: ${code} ${fault}: ${message}`)
  return `${[...passed, ...failed].join('\n')}\n`
}

async function list(dirs: readonly string[], { json }: QueriesOptions, io: CommandIo): Promise<void> {
  const folders = (await Promise.all(dirs.map(listPackFolders))).flat()
  const views = await Promise.all(
    folders.map(async (pack) => {
      const { language, pack: name, kinds } = await manifestOf(pack)
      return { language, pack: name, kinds: ['file', ...kinds], folder: pack.folder }
    }),
  )
  const lines = views.map(({ language, pack, kinds, folder }) => {
    const place = folder.startsWith(builtinQueries) ? '' : ` (${folder})`
    return `${language}/${pack}: ${kinds.join(', ')}${place}\n`
  })
  io.out(json ? `${JSON.stringify({ packs: views })}\n` : visible(lines.join('')))
}

async function writeManifests(dir: string, { json }: QueriesOptions, io: CommandIo): Promise<void> {
  const folders = await listPackFolders(dir)
  const manifests = await Promise.all(folders.map(manifestOf))
  const files = folders.map(({ folder }) => join(folder, manifestFile))
  for (const [at, manifest] of manifests.entries()) await writeFile(files[at] ?? '', manifestText(manifest))
  io.out(json ? `${JSON.stringify({ packs: manifests })}\n` : files.map((file) => `wrote ${file}\n`).join(''))
}
