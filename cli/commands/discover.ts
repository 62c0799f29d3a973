import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { AppError } from '#domain/error.ts'
import { nodeView } from '#domain/node-view.ts'
import { programCache } from '#platform/program-cache.ts'
import type { Discovery } from '../../services/discovery/discover/discover-nodes.ts'
import { discoverFolder } from '../../services/discovery/discover/discover-folder.ts'
import { requireSoundPacks } from '../../services/discovery/load-sound-packs.ts'
import type { CliContext } from '../cli-context.ts'
import { compareSince } from '../discover/compare-since.ts'
import { describeComparison } from '../discover/describe-comparison.ts'
import { comparisonView, discoveryView } from '../discover/discovery-document.ts'
import { earlierNodes } from '../discover/earlier-nodes.ts'
import { requireKnownFilters } from '../discover/known-filters.ts'
import { nodeLines } from '../node-lines.ts'
import { visible, visibleName } from '../visible.ts'
import { includedKinds, type IncludeOptions, includeOptions } from './option-parsers.ts'
import { plural } from '../plural.ts'

type DiscoverOptions = IncludeOptions & {
  languages?: string[]
  kinds?: string[]
  workers: number
  since?: string
  edges?: true
  cache: boolean
  json?: true
}

/** `remora discover`: the code nodes of a folder, in process, without services. */
export function addDiscoverCommand(
  program: Command,
  { io, signal, config }: Pick<CliContext, 'io' | 'signal' | 'config'>,
): void {
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
        include: includedKinds(options, config.request.include),
      }
      const cache = options.cache ? programCache(config.settings.own) : undefined
      const indexDir = cache && join(cache, 'discover')
      const folderOptions = { filters, packs: config.queries, threads: options.workers, ...(indexDir && { indexDir }) }
      const { since, json } = options
      await requireSoundPacks(config.queries)
      await requireKnownFilters({ languages: filters.languages, kinds: filters.nodeKinds }, config)
      const earlier = since === undefined ? undefined : await earlierNodes(path, since, folderOptions, signal)
      const packs = { ...config.queries, references: options.edges ?? false }
      const found = await discoverFolder(path, { ...folderOptions, packs }, signal)
      const comparison = earlier && (await compareSince(path, earlier, found))
      if (json)
        io.out(`${JSON.stringify({ ...discoveryView(found), ...(comparison && comparisonView(comparison)) })}\n`)
      else if (comparison === undefined) io.out(visible(describeDiscovery(found)))
      else {
        io.out(visible(describeComparison(comparison, since ?? '')))
        if (found.edges !== undefined) io.out(`${describeEdges(found.edges)}\n`)
      }
    })
  for (const option of includeOptions()) added.addOption(option)
}

async function requireFolder(path: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) {
    throw new AppError('DISC_005', `there is no such folder: ${path}`, { phase: 'usage' })
  }
  const wayOn = /\.(?:zip|tar|tgz|tar\.gz)$/.test(path) ? 'unpack it first' : 'name the one it is in'
  if (!stats.isDirectory()) throw new AppError('DISC_005', `${path} is no folder: ${wayOn}`, { phase: 'usage' })
}

function describeDiscovery({ nodes, edges, files, skipped, durationMs }: Discovery): string {
  const lines = nodeLines(nodes.map(nodeView))
  const counts = Map.groupBy(nodes, (node) => node.kind)
  const kinds = Array.from(counts, ([kind, ofKind]) => [kind, `${ofKind.length} ${kind}`] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, text]) => text)
  if (nodes.length > 0) lines.push('')
  if (skipped.length > 0)
    lines.push('Skipped:', ...skipped.map(({ path, reason }) => `  ${visibleName(path)}  ${reason}`), '')
  const summary = [
    `${plural(nodes.length, 'node')} in ${plural(files, 'file')}`,
    ...(kinds.length > 0 ? [kinds.join(', ')] : []),
  ]
  lines.push(`${summary.join(': ')} (${skipped.length} skipped, ${(durationMs / 1000).toFixed(1)} s)`)
  if (edges !== undefined) lines.push(describeEdges(edges))
  return `${lines.join('\n')}\n`
}

function describeEdges(edges: NonNullable<Discovery['edges']>): string {
  const counts = Map.groupBy(edges, (edge) => edge.kind)
  const kinds = Array.from(counts, ([kind, ofKind]) => `${ofKind.length} ${kind}`).toSorted()
  const byName = edges.filter((edge) => edge.certainty === 'by_name').length
  const parts = [...kinds, ...(byName > 0 ? [`${byName} by name only`] : [])]
  return `${plural(edges.length, 'edge')}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`
}

function splitAtCommas(values: readonly string[] | undefined): string[] {
  return (values ?? []).flatMap((value) => value.split(',')).filter((value) => value !== '')
}

function wholeNumber(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 to 999.')
  return Number(text)
}
