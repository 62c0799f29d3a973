import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AppError } from '#domain/error.ts'
import { nodeView, type CodeNode } from '#domain/code-node.ts'
import { plural, nodePlace } from '#domain/timeline/words.ts'
import type { DiscoveryFilters } from '#stages/discover/choose-files.ts'
import { discoverFolder } from '#stages/discover/discover-folder.ts'
import type { Discovery } from '#stages/discover/discover-nodes.ts'
import type { CliContext } from '../cli-context.ts'
import { visible, visibleName } from '../terminal-text.ts'
import { nodeLines } from '../wording.ts'
import { compareSince, earlierNodes, type SinceComparison } from './compare-since.ts'
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

type Change =
  | { what: 'added' | 'removed' | 'changed'; node: CodeNode; from: undefined }
  | { what: 'moved'; node: CodeNode; from: CodeNode }

/** Describes the differences file by file; of a file that was added, removed or moved as a whole only the number of its nodes. */
function describeComparison(comparison: SinceComparison, since: string): string {
  const files = [...Map.groupBy(changesOf(comparison), ({ node }) => node.path)]
  const lines = files
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([path, changes]) => fileLines(path, changes))
  const { added, removed, changed, moved, unchanged, notCompared } = comparison
  const counts = Object.entries({ added, removed, changed, moved }).map(([what, nodes]) => `${nodes.length} ${what}`)
  if (lines.length > 0) lines.push('')
  lines.push(`Since ${since}: ${counts.join(', ')}, ${unchanged} unchanged`)
  if (notCompared.length > 0) lines.push(`Not compared, because skipped on one side: ${firstOf(notCompared)}`)
  return `${lines.join('\n')}\n`
}

const shown = 5

function firstOf(paths: readonly string[]): string {
  const named = paths.slice(0, shown).map(visibleName).join(', ')
  return paths.length <= shown ? named : `${named} … (${paths.length} files)`
}

function changesOf({ added, removed, changed, moved }: SinceComparison): Change[] {
  return [
    ...added.map((node): Change => ({ what: 'added', node, from: undefined })),
    ...removed.map((node): Change => ({ what: 'removed', node, from: undefined })),
    ...changed.map((node): Change => ({ what: 'changed', node, from: undefined })),
    ...moved.map(({ from, to }): Change => ({ what: 'moved', node: to, from })),
  ]
}

function fileLines(path: string, changes: readonly Change[]): string[] {
  const file = changes.find(({ node }) => node.kind === 'file')
  const inside = changes.filter(({ node }) => node.kind !== 'file')
  const own = inside.filter((change) => file === undefined || !goesWith(change, file))
  const more = inside.length - own.length
  const fate = file === undefined ? '' : `  ${file.what}${fromText(file)}`
  const head = `${visibleName(path)}${fate}${more === 0 ? '' : ` with ${plural(more, 'node')}`}`
  return [head, ...own.toSorted((left, right) => left.node.startByte - right.node.startByte).map(nodeLine)]
}

/** Is true when a node changed in the same way as its whole file. */
function goesWith({ what, from, node }: Change, file: Change): boolean {
  if (what === 'changed' || what !== file.what) return false
  return from === undefined || (from.path === file.from?.path && from.qualifiedName === node.qualifiedName)
}

function nodeLine(change: Change): string {
  const { what, node } = change
  const range = `${node.startLine}-${node.endLine}`
  return `  ${what.padEnd(8)} ${range.padEnd(11)} ${node.kind.padEnd(10)} ${node.qualifiedName}${fromText(change)}`
}

function fromText({ from, node }: Change): string {
  if (from === undefined) return ''
  if (from.kind === 'file') return ` from ${visibleName(from.path)}`
  return ` from ${from.path === node.path ? from.qualifiedName : nodePlace(from.path, from.qualifiedName)}`
}

/** Returns what `--since` adds to the JSON document of `discoveryTexts`. */
function comparisonView({ added, removed, changed, moved, unchanged, notCompared }: SinceComparison) {
  return {
    added: added.map(nodeView),
    removed: removed.map(nodeView),
    changed: changed.map(nodeView),
    moved: moved.map(({ from, to }) => ({ from: nodeView(from), to: nodeView(to) })),
    unchanged,
    not_compared: notCompared,
  }
}
