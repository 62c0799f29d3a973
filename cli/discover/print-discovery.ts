import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AppError } from '#domain/error.ts'
import { nodeView } from '#domain/code-node.ts'
import { plural } from '#domain/timeline/words.ts'
import type { DiscoveryFilters } from '#stages/discover/choose-files.ts'
import { discoverFolder } from '#stages/discover/discover-folder.ts'
import type { Discovery } from '#stages/discover/discover-nodes.ts'
import type { CliContext } from '../cli-context.ts'
import { visible, visibleName } from '../terminal-text.ts'
import { nodeLines } from '../wording.ts'
import { compareSince, earlierNodes } from './compare-since.ts'
import { comparisonView, describeComparison } from './describe-comparison.ts'
import { discoveryTexts } from './discovery-document.ts'
import { folderOptions, requireKnownFilters, requirePacks } from './local-discovery.ts'

export type DiscoveryOrder = {
  path: string
  filters: Pick<DiscoveryFilters, 'paths' | 'languages' | 'nodeKinds' | 'include'>
  threads: number
  /** Names what the nodes are compared with, as `earlierNodes` takes it. */
  since: string | undefined
  edges: boolean
  useCache: boolean
  json: boolean
}

/** Discovers a folder in this process and prints its nodes, or how they differ from earlier ones. DISC_005 for anything but a folder. */
export async function printDiscovery(
  { path: named, filters, since, edges, json, ...order }: DiscoveryOrder,
  { io, signal, config, cwd }: Pick<CliContext, 'io' | 'signal' | 'config' | 'cwd'>,
): Promise<void> {
  const path = resolve(cwd, named)
  await requireFolder(path, named)
  await requirePacks(config.queries)
  await requireKnownFilters({ languages: filters.languages, kinds: filters.nodeKinds }, config)
  const { indexDir, ...usual } = folderOptions(filters, config)
  const options = { ...usual, threads: order.threads, ...(order.useCache && indexDir && { indexDir }) }
  const earlier = since === undefined ? undefined : await earlierNodes(path, since, options, signal)
  const packs = { ...config.queries, references: edges }
  const discovery = await discoverFolder(path, { ...options, packs }, signal)
  const comparison = earlier && (await compareSince(path, earlier, discovery))
  if (json) for (const text of discoveryTexts(discovery, comparison ? comparisonView(comparison) : {})) io.out(text)
  else if (comparison === undefined) io.out(visible(describeDiscovery(discovery)))
  else {
    io.out(visible(describeComparison(comparison, since ?? '')))
    if (discovery.edges !== undefined) io.out(`${describeEdges(discovery.edges)}\n`)
  }
}

async function requireFolder(path: string, named: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) throw new AppError('DISC_005', `there is no such folder: ${named}`, { phase: 'usage' })
  const wayOn = /\.(?:zip|tar|tgz|tar\.gz)$/.test(named) ? 'unpack it first' : 'name the one it is in'
  if (!stats.isDirectory()) throw new AppError('DISC_005', `${named} is no folder: ${wayOn}`, { phase: 'usage' })
}

function describeDiscovery({ nodes, edges, files, skipped, durationMs }: Discovery): string {
  const lines = nodeLines(nodes.map(nodeView))
  const counts = [...Map.groupBy(nodes, (node) => node.kind)].toSorted(([left], [right]) => (left < right ? -1 : 1))
  const kinds = counts.map(([kind, ofKind]) => `${ofKind.length} ${kind}`)
  if (nodes.length > 0) lines.push('')
  if (skipped.length > 0)
    lines.push('Skipped:', ...skipped.map(({ path, reason }) => `  ${visibleName(path)}  ${reason}`), '')
  const ofKinds = kinds.length === 0 ? '' : `: ${kinds.join(', ')}`
  const summary = `${plural(nodes.length, 'node')} in ${plural(files, 'file')}${ofKinds}`
  lines.push(`${summary} (${skipped.length} skipped, ${(durationMs / 1000).toFixed(1)} s)`)
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
