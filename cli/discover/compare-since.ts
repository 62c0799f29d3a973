import { figure } from '#domain/figure.ts'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/ids.ts'
import { AppError } from '#domain/error.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import { maxSelectedNodes, type SkipKind } from '#domain/run.ts'
import { plural } from '#domain/timeline/words.ts'
import { compareNodes, matchRenames, type NodeComparison } from '#stages/discover/compare-nodes.ts'
import type { Discovery } from '#stages/discover/discover-nodes.ts'
import type { DiscoveryFilters } from '#stages/discover/choose-files.ts'
import { discoverFolder, type FolderOptions } from '#stages/discover/discover-folder.ts'
import { discoverRevision } from '#stages/discover/discover-revision.ts'
import { parseDiscovery } from './discovery-document.ts'
import { folderOptions } from './local-discovery.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../terminal-text.ts'

type FoundNodes = Pick<Discovery, 'nodes' | 'skipped'>

/** `notCompared`: files with nodes that the other side skipped, sorted. */
export type SinceComparison = NodeComparison & { notCompared: string[] }

type Texts = readonly string[] | undefined

/** `since` names the earlier state; the rest limits a run, and `exclude` is added to the settings'. */
type Since = {
  since: string
  paths?: Texts
  exclude?: Texts
  languages?: Texts
  kinds?: Texts
  include?: readonly SkipKind[] | undefined
}

/**
 * Returns the ids of the nodes of `folder` whose text is new since `since` (see `earlierNodes`): added, changed, renamed, or in a
 * file that was skipped then. A node that only moved is not among them. Their number is printed on stderr. DISC_005 for
 * anything but a folder (wrong usage) or an unknown revision, INTAKE_003 for more nodes than a request may name.
 */
export async function changedNodes(folder: string, wanted: Since, context: CliContext): Promise<string[]> {
  const { since, paths = [], exclude = [], languages = [], kinds = [], include = [] } = wanted
  const stats = await stat(folder)
  const noFolder = `--since needs a folder, but ${folder} is not one`
  if (!stats.isDirectory()) throw new AppError('DISC_005', noFolder, { phase: 'usage' })
  const options = folderOptions({ paths, exclude, languages, nodeKinds: kinds, include }, context.config)
  const earlier = await earlierNodes(folder, since, options, context.signal)
  const now = await discoverFolder(folder, options, context.signal)
  const { added, changed, moved, notCompared } = await compareSince(folder, earlier, now)
  const renamed = moved.flatMap(({ from, to }) => (from.hash === to.hash ? [] : [to]))
  const unknown = new Set(notCompared)
  const nodes = [...added, ...changed, ...renamed, ...now.nodes.filter(({ path }) => unknown.has(path))]
  const ids = [...new Set(nodes.map(({ nodeId }) => nodeId))]
  const files = new Set(nodes.map(({ path }) => path))
  const what = `${plural(ids.length, 'node')} in ${plural(files.size, 'file')}`
  context.io.err(visible(`since ${since}: ${what} added or changed\n`))
  if (ids.length <= maxSelectedNodes) return ids
  const most = `a run can be limited to ${figure(maxSelectedNodes)} nodes`
  const advice = 'name fewer with --paths, or leave --since out'
  throw new AppError('INTAKE_003', `since ${since} ${what} changed, and ${most}: ${advice}`)
}

/**
 * Returns the nodes of `other`, the value of `--since`: a folder, else a file that `discover --json` wrote, else a git revision of
 * the repository around `path`. DISC_005 when it is not one of these or cannot be read.
 */
export async function earlierNodes(
  path: string,
  other: string,
  options: FolderOptions,
  signal: AbortSignal,
): Promise<FoundNodes> {
  const stats = await stat(other).catch(() => undefined)
  if (stats?.isDirectory() === true) return discoverFolder(other, options, signal)
  if (stats === undefined) return discoverRevision(path, other, options, signal)
  const text = await readFile(other, { encoding: 'utf8', signal }).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new AppError('DISC_005', `${other} cannot be read`, { cause })
  })
  const { nodes, skipped } = parseDiscovery(text, other)
  const wanted = filterOf(options.filters ?? {})
  return { nodes: nodes.filter(wanted), skipped }
}

/** The file may hold more than is asked for now. */
function filterOf({ paths = [], languages = [], nodeKinds = [] }: DiscoveryFilters) {
  const within = paths.length === 0 ? () => true : pathGlobs(paths)
  return (node: CodeNode) =>
    within(node.path) &&
    (languages.length === 0 || languages.includes(node.language)) &&
    (nodeKinds.length === 0 || nodeKinds.includes(node.kind))
}

/** Compares the nodes of the folder `root` with earlier ones, without files that one side skipped: these are neither removed nor added. */
export async function compareSince(root: string, earlier: FoundNodes, now: FoundNodes): Promise<SinceComparison> {
  const [was, is] = [notSkipped(now), notSkipped(earlier)]
  const comparison = compareNodes(earlier.nodes.filter(was), now.nodes.filter(is))
  const texts = await textsOf(root, comparison)
  const left = [...earlier.nodes.filter((node) => !was(node)), ...now.nodes.filter((node) => !is(node))]
  const notCompared = [...new Set(left.map(({ path }) => path))].toSorted()
  return { ...matchRenames(comparison, (node) => texts.get(node.nodeId)), notCompared }
}

function notSkipped({ nodes, skipped }: FoundNodes): (node: CodeNode) => boolean {
  // A file with nodes is among the skipped ones when parts of it do not parse.
  const read = new Set(nodes.map(({ path }) => path))
  const skippedPaths = new Set(skipped.flatMap(({ path }) => (read.has(path) ? [] : [path])))
  return ({ path }) => {
    const parts = path.split('/')
    return !parts.some((_, index) => skippedPaths.has(parts.slice(0, index + 1).join('/')))
  }
}

async function textsOf(root: string, { added, removed }: NodeComparison): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  const kinds = new Set(removed.map((node) => node.kind))
  const wanted = added.filter((node) => node.kind !== 'file' && kinds.has(node.kind))
  for (const [path, nodes] of Map.groupBy(wanted, (node) => node.path)) {
    const content = await readFile(join(root, path)).catch(() => Buffer.alloc(0))
    for (const { nodeId, startByte, endByte, hash } of nodes) {
      const bytes = content.subarray(startByte, endByte)
      if (sha256(bytes) === hash) texts.set(nodeId, bytes.toString())
    }
  }
  return texts
}
