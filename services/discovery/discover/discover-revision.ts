import { resolve } from 'node:path'
import { byPath } from '#domain/repo-path.ts'
import { msSince } from '#platform/clock.ts'
import type { DiscoveryFilters, SourceFile } from './choose-files.ts'
import type { FolderOptions } from './discover-folder.ts'
import { type Discovery, discoverNodes } from './discover-nodes.ts'
import { openGitRevision } from './git-revision.ts'
import { type IndexFile, indexPath, openIndexFile } from './index-file.ts'
import { openParsePool } from './parse-pool.ts'
import { loadQueryPacks } from './query-pack.ts'

/**
 * Finds the code nodes that `folder` had at a revision of the repository it lies in, as `discoverFolder` finds those it
 * has now; nothing is checked out. Errors as of `openGitRevision` and `discoverNodes`. What is tracked although
 * .gitignore names it is found here, and line ends are those of git's objects.
 */
export async function discoverRevision(
  folder: string,
  revision: string,
  options: FolderOptions,
  signal: AbortSignal,
): Promise<Discovery> {
  const start = performance.now()
  const packs = await loadQueryPacks(options.packs)
  const git = await openGitRevision(folder, revision, signal)
  const known = await indexOf(options.indexDir, folder, git.files)
  const pool = openParsePool({ threads: options.threads ?? 0 })
  try {
    // What is in a revision is tracked: no .gitignore counts against it.
    const { include = [] } = options.filters ?? {}
    const filters: DiscoveryFilters = { ...options.filters, include: [...include, 'ignored'] }
    const input = { files: git.files, read: git.read, filters, ...(known && { known }) }
    const found = await discoverNodes(input, { pool, packs }, signal)
    await known?.save()
    const skipped = [...git.skipped, ...found.skipped].toSorted(byPath)
    return { ...found, skipped, durationMs: msSince(start) }
  } finally {
    git.close()
    await pool.close()
  }
}

/** One file for all revisions of a folder, most of whose files are the same. Git's name of a content is its state. */
async function indexOf(
  dir: string | undefined,
  folder: string,
  files: readonly SourceFile[],
): Promise<IndexFile | undefined> {
  if (dir === undefined) return undefined
  return openIndexFile(indexPath(dir, `git ${resolve(folder)}`), new Map(files.map(({ path, hash }) => [path, hash])))
}
