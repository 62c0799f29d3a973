import { readFile, stat } from 'node:fs/promises'
import { AppError } from '#domain/error.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { DiscoveryFilters } from '../../services/discovery/discover/choose-files.ts'
import { discoverFolder, type FolderOptions } from '../../services/discovery/discover/discover-folder.ts'
import { discoverRevision } from '../../services/discovery/discover/discover-revision.ts'
import type { FoundNodes } from './compare-since.ts'
import { parseDiscovery } from './discovery-document.ts'

/**
 * What `--since OTHER` names: a folder, else a file that `discover --json` wrote, else a git revision of the repository
 * that `path` lies in. DISC_005 when it is none of them or cannot be read.
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

/** The document may be of more than is asked for now. */
function filterOf({ paths = [], languages = [], nodeKinds = [] }: DiscoveryFilters) {
  const within = paths.length === 0 ? () => true : pathGlobs(paths)
  return (node: { path: string; language: string; kind: string }) =>
    within(node.path) &&
    (languages.length === 0 || languages.includes(node.language)) &&
    (nodeKinds.length === 0 || nodeKinds.includes(node.kind))
}
