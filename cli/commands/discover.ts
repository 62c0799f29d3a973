import { stat } from 'node:fs/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { AppError } from '#domain/error.ts'
import { nodeView } from '#domain/node-view.ts'
import type { Discovery } from '../../services/discovery/discover/discover-nodes.ts'
import { discoverFolder } from '../../services/discovery/discover/discover-folder.ts'
import { requireSoundPacks } from '../../services/discovery/load-sound-packs.ts'
import type { CliContext } from '../cli-context.ts'
import { nodeLines } from '../node-lines.ts'
import { plural } from '../plural.ts'

type DiscoverOptions = { languages?: string[]; kinds?: string[]; workers: number; json?: true }

/** `remora discover`: the code nodes of a folder, in process, without services. */
export function addDiscoverCommand(
  program: Command,
  { io, signal, config }: Pick<CliContext, 'io' | 'signal' | 'config'>,
): void {
  program
    .command('discover')
    .description('find the code nodes of a folder, in process')
    .argument('[path]', 'folder to look through', '.')
    .option('--languages <names...>', 'only these languages')
    .option('--kinds <kinds...>', 'only nodes of these kinds')
    .option('--workers <count>', 'parsing threads; 0 is one per core', wholeNumber, config.discovery.threads)
    .option('--json', 'print one JSON document')
    .action(async (path: string, options: DiscoverOptions) => {
      await requireFolder(path)
      const { exclude, maxFileBytes } = config.discovery
      const languages = options.languages ?? config.request.languages
      const filters = {
        paths: config.request.paths ?? [],
        exclude,
        maxFileBytes,
        languages: splitAtCommas(languages),
        nodeKinds: splitAtCommas(options.kinds),
      }
      await requireSoundPacks(config.queries)
      const found = await discoverFolder(path, { filters, packs: config.queries, threads: options.workers }, signal)
      io.out(options.json ? `${JSON.stringify(discoveryView(found))}\n` : describeDiscovery(found))
    })
}

async function requireFolder(path: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) throw new AppError('DISC_005', `there is no such folder: ${path}`)
  if (!stats.isDirectory()) throw new AppError('DISC_005', `${path} is no folder: name the one it is in`)
}

/** A discovery as `remora discover --json` prints it (contract.md §1). */
function discoveryView(found: Discovery) {
  const { nodes, files, skipped, durationMs } = found
  return { nodes: nodes.map(nodeView), files, skipped, duration_ms: durationMs }
}

function describeDiscovery({ nodes, files, skipped, durationMs }: Discovery): string {
  const lines = nodeLines(nodes.map(nodeView))
  const counts = Map.groupBy(nodes, (node) => node.kind)
  const kinds = Array.from(counts, ([kind, ofKind]) => `${ofKind.length} ${kind}`).toSorted()
  if (nodes.length > 0) lines.push('')
  if (skipped.length > 0) lines.push('Skipped:', ...skipped.map(({ path, reason }) => `  ${path}  ${reason}`), '')
  const summary = [
    `${plural(nodes.length, 'node')} in ${plural(files, 'file')}`,
    ...(kinds.length > 0 ? [kinds.join(', ')] : []),
  ]
  lines.push(`${summary.join(': ')} (${skipped.length} skipped, ${(durationMs / 1000).toFixed(1)} s)`)
  return `${lines.join('\n')}\n`
}

function splitAtCommas(values: readonly string[] | undefined): string[] {
  return (values ?? []).flatMap((value) => value.split(',')).filter((value) => value !== '')
}

function wholeNumber(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 to 999.')
  return Number(text)
}
