import { type Command, InvalidArgumentError } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { printDiscovery } from '../discover/print-discovery.ts'
import { includedKinds, type IncludeOptions, includeOptions } from './shared-options.ts'

type DiscoverOptions = IncludeOptions & {
  languages?: string[]
  kinds?: string[]
  workers: number
  since?: string
  edges?: true
  cache: boolean
  json?: true
}

/** `remora discover`: the code nodes of a folder, found in this process, without services. */
export function addDiscoverCommand(
  program: Command,
  context: Pick<CliContext, 'io' | 'signal' | 'config' | 'cwd'>,
): void {
  const { config } = context
  const added = program
    .command('discover')
    .description('find the code nodes of a folder, in process')
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
