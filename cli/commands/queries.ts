import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Option, type Command } from 'commander'
import { AppError } from '#domain/error.ts'
import { languageOf } from '#syntax/grammars.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { treeLines } from '#syntax/tree-lines.ts'
import { checkPacks, type CheckedPacks } from '../../services/discovery/discover/check-packs.ts'
import { manifestOf, manifestText } from '../../services/discovery/discover/pack-manifest.ts'
import { manifestFile } from '../../services/discovery/discover/recorded-manifest.ts'
import { builtinQueries, listPackFolders } from '../../services/discovery/discover/query-pack.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../visible.ts'
import type { CommandIo } from '../command-io.ts'
import { orInterrupted } from '../or-interrupted.ts'

type QueriesOptions = { dir: string; json?: true }
type TreeOptions = { language?: string; tokens?: true }

/** `remora queries check | list | manifest | tree`: the query packs, checked, listed, recorded; what they are run on. */
export function addQueriesCommand(program: Command, { io, signal }: Pick<CliContext, 'io' | 'signal'>): void {
  const queries = program.command('queries').description('check, list and record the query packs; look at syntax trees')
  const subcommand = (name: string, description: string) =>
    queries
      .command(name)
      .description(description)
      .addOption(
        new Option('--dir <folder>', 'folder of the packs, <language>/<pack>/*.scm').default(
          builtinQueries,
          'that of Remora',
        ),
      )
      .option('--json', 'print one JSON document')
  subcommand('check', 'check every pack; exit code 1 on any fault').action((options) =>
    orInterrupted(check(options, io), signal),
  )
  subcommand('list', 'list the packs and their node kinds').action((options) =>
    orInterrupted(list(options, io), signal),
  )
  subcommand('manifest', 'write the manifest of every pack').action((options) =>
    orInterrupted(writeManifests(options, io), signal),
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
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new AppError('DISC_005', `${file} cannot be read`, { cause })
  })
  const { read } = await loadLanguage(name)
  const lines = read(text, (tree) => treeLines(tree, { tokens: tokens === true }))
  io.out(lines.map((line) => `${line}\n`).join(''))
}

async function check({ dir, json }: QueriesOptions, io: CommandIo): Promise<void> {
  const checked = await checkPacks(dir, { complete: dir === builtinQueries })
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

async function list({ dir, json }: QueriesOptions, io: CommandIo): Promise<void> {
  const packs = await Promise.all((await listPackFolders(dir)).map(manifestOf))
  const views = packs.map(({ language, pack, kinds }) => ({ language, pack, kinds: ['file', ...kinds] }))
  const lines = views.map(({ language, pack, kinds }) => `${language}/${pack}: ${kinds.join(', ')}\n`)
  io.out(json ? `${JSON.stringify({ packs: views })}\n` : visible(lines.join('')))
}

async function writeManifests({ dir, json }: QueriesOptions, io: CommandIo): Promise<void> {
  const folders = await listPackFolders(dir)
  const manifests = await Promise.all(folders.map(manifestOf))
  const files = folders.map(({ folder }) => join(folder, manifestFile))
  for (const [at, manifest] of manifests.entries()) await writeFile(files[at] ?? '', manifestText(manifest))
  io.out(json ? `${JSON.stringify({ packs: manifests })}\n` : files.map((file) => `wrote ${file}\n`).join(''))
}
