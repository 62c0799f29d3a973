import { type Command, InvalidArgumentError } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { printDiscovery } from '../discover/print-discovery.ts'
import { includedKinds, includeOptions, type IncludeOptions } from './shared-options.ts'
import {
  type PackOptions,
  printPackCheck,
  printPackList,
  printTree,
  type TreeOptions,
  writeManifests,
} from '../discover/print-packs.ts'
import { untilAborted } from '#platform/clock.ts'

type DiscoverOptions = IncludeOptions & {
  languages?: string[]
  kinds?: string[]
  workers: number
  since?: string
  edges?: true
  cache: boolean
  json?: true
}

export function addDiscoverCommand(
  added: Command,
  context: Pick<CliContext, 'io' | 'signal' | 'config' | 'cwd'>,
): void {
  const { config } = context
  added
    .argument('[path]', 'folder to look through', '.')
    .option('--languages <names...>', 'only these languages')
    .option('--kinds <kinds...>', 'only nodes of these kinds')
    .option('--workers <count>', 'parsing threads; 0 is one per core', wholeNumber, config.discovery.threads)
    .option('--since <other>', 'list what changed since a git revision, an earlier --json output or another folder')
    .option('--edges', 'also list what imports, calls, inherits or tests what (Python, TypeScript, JavaScript, Go)')
    .option('--no-cache', 'parse every file again, also those that have not changed')
    .option('--json', 'print one JSON document')
    .action((path: string, options: DiscoverOptions) => {
      const { languages = config.request.languages, kinds, workers: threads, since, edges, cache, json } = options
      const filters = {
        paths: config.request.paths ?? [],
        languages: splitAtCommas(languages),
        nodeKinds: splitAtCommas(kinds),
        include: includedKinds(options, config.request.include),
      }
      const flags = { edges: edges === true, useCache: cache, json: json === true }
      return printDiscovery({ path, filters, threads, since, ...flags }, context)
    })
  for (const option of includeOptions()) added.addOption(option)
}

function splitAtCommas(values: readonly string[] | undefined): string[] {
  return (values ?? []).flatMap((value) => value.split(',')).filter((value) => value !== '')
}

function wholeNumber(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 to 999.')
  return Number(text)
}

export function addQueriesCommand(
  group: Command,
  { io, signal, config }: Pick<CliContext, 'io' | 'signal' | 'config'>,
): void {
  const { queries } = config
  const addSubcommand = (name: string, description: string, usual: string, work: typeof printPackCheck) =>
    group
      .command(name)
      .description(description)
      .option('--dir <folder>', `folder of the packs, <language>/<pack>/*.scm (default: ${usual})`)
      .option('--json', 'print one JSON document')
      .action((options: PackOptions) => untilAborted(work(options, { queries, io }), signal))
  const both = 'that of Remora, and discovery.queries_dir'
  addSubcommand('check', 'check every pack; exit code 1 on any fault', both, printPackCheck)
  addSubcommand('list', 'list the packs and their node kinds', both, printPackList)
  const own = 'discovery.queries_dir, else that of Remora'
  addSubcommand('manifest', 'write the manifest of every pack', own, writeManifests)
  group
    .command('tree')
    .description('print the syntax tree of a file, as queries see it')
    .argument('<file>', 'source file')
    .option('--language <name>', 'its language, if the file name does not show it')
    .option('--tokens', 'also anonymous nodes: keywords, operators, brackets')
    .action((file: string, options: TreeOptions) => untilAborted(printTree(file, options, io), signal))
}
