import type { CodeNode } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { parseRepoPath, type RepoPath } from '#domain/repo-path.ts'
import { skipKinds } from '#domain/run.ts'
import { nearest } from '#platform/nearest.ts'
import { discoverNodes } from '#stages/discover/discover-nodes.ts'
import { openParsePool } from '#stages/discover/parse-pool.ts'
import { loadQueryPacks, type PackPlaces } from '#stages/discover/query-pack.ts'
import { requireSoundPacks } from '../../services/discovery/load-sound-packs.ts'
import type { BaseLayer } from '#stages/operate/workspace/base-layer.ts'

const namedInMessage = 10

/**
 * Finds the node that `PATH[:QUALIFIED_NAME]` names, by discovering that one file: the file itself without a name, the
 * first of several nodes with the same name. DISC_005 for a file that is missing or that discovery skips, RUN_002 for a
 * name that the file does not have.
 */
export async function findTarget(
  named: string,
  folder: Pick<BaseLayer, 'find' | 'read'>,
  packs: PackPlaces,
  signal: AbortSignal,
): Promise<CodeNode> {
  const { path, name } = splitName(named, folder)
  await requireSoundPacks(packs)
  const pool = openParsePool({ threads: 1 })
  try {
    const files = [{ path, hash: path, size: (await folder.read(path)).length }]
    const deps = { pool, packs: await loadQueryPacks(packs) }
    const source = { files, read: folder.read, filters: { include: skipKinds } }
    const { nodes, skipped } = await discoverNodes(source, deps, signal)
    const [why] = skipped
    if (nodes.length === 0) throw new AppError('DISC_005', `--node ${path}: ${why?.reason ?? 'it has no nodes'}`)
    const target = nodes.find((node) => (name === '' ? node.kind === 'file' : node.qualifiedName === name))
    if (target === undefined) throw unknownName(path, name, nodes)
    return target
  } finally {
    await pool.close()
  }
}

/** Paths and names may contain colons: the path is the longest prefix that is a file of the folder. */
function splitName(named: string, folder: Pick<BaseLayer, 'find'>): { path: RepoPath; name: string } {
  for (let end = named.length; end > 0; end = named.lastIndexOf(':', end - 1)) {
    const path = parseRepoPath(named.slice(0, end), 'TOOL_007')
    if (folder.find(path) !== undefined) return { path, name: named.slice(end + 1) }
  }
  const shown = JSON.stringify(named)
  throw new AppError('DISC_005', `--node ${shown}: the workspace has no such file; paths are relative to --workspace`)
}

function unknownName(path: string, name: string, nodes: readonly CodeNode[]): AppError {
  const names = [...new Set(nodes.filter(({ kind }) => kind !== 'file').map((node) => node.qualifiedName))]
  const near = nearest(name, names)
  const more = names.length > namedInMessage ? `, … (${names.length} in all)` : ''
  const known = names.slice(0, namedInMessage).join(', ') || 'only the file itself'
  const way = near === undefined ? `it has ${known}${more}` : `did you mean ${near}?`
  return new AppError('RUN_002', `--node: ${path} has no node ${JSON.stringify(name)}: ${way}`)
}
