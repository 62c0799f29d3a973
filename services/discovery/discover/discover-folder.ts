import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AppError } from '#domain/error.ts'
import { byPath } from '#domain/repo-path.ts'
import { msSince } from '#platform/clock.ts'
import type { DiscoveryFilters } from './choose-files.ts'
import { type Discovery, discoverNodes } from './discover-nodes.ts'
import { type IndexFile, indexPath, openIndexFile } from './index-file.ts'
import { type ListedFile, listSourceFiles } from './list-source-files.ts'
import { openParsePool } from './parse-pool.ts'
import { loadQueryPacks, type PackPlaces } from './query-pack.ts'

export type FolderOptions = {
  filters?: DiscoveryFilters
  packs?: PackPlaces
  /** Parsing threads; 0 is one per core. */
  threads?: number
  /** Where what was found is kept for the next discovery of the same folder; without it every file is parsed. */
  indexDir?: string
}

/** Two changes within one tick of a file system's clock leave one state: what changed so lately is not to be known again. */
const unsettledMs = 2000

/** Finds the code nodes of a folder on this machine, in process; git and services are not needed. */
export async function discoverFolder(root: string, options: FolderOptions, signal: AbortSignal): Promise<Discovery> {
  const start = performance.now()
  const top = resolve(root)
  const packs = await loadQueryPacks(options.packs)
  const listedAtMs = Date.now()
  const { include = [] } = options.filters ?? {}
  const listed = await listSourceFiles(top, include, signal)
  const known = await indexOf(options.indexDir, top, listed.files, listedAtMs)
  const pool = openParsePool({ threads: options.threads ?? 0 })
  try {
    // A path names its content well enough: no file is read twice.
    const files = listed.files.map(({ path, size }) => ({ path, size, hash: path }))
    const fileOf = (path: string) => join(top, path)
    const read = (path: string) => readFileOf(fileOf(path))
    const filters: DiscoveryFilters = { ...options.filters, include: [...include, 'ignored'] }
    const input = { files, read, fileOf, filters, ...(known && { known }) }
    const found = await discoverNodes(input, { pool, packs }, signal)
    await known?.save()
    const skipped = [...listed.skipped, ...found.skipped].toSorted(byPath)
    return { ...found, skipped, durationMs: msSince(start) }
  } finally {
    await pool.close()
  }
}

async function indexOf(
  dir: string | undefined,
  top: string,
  files: readonly ListedFile[],
  listedAtMs: number,
): Promise<IndexFile | undefined> {
  if (dir === undefined) return undefined
  const settled = files.filter(({ changedMs }) => changedMs < listedAtMs - unsettledMs)
  return openIndexFile(indexPath(dir, top), new Map(settled.map(({ path, state }) => [path, state])))
}

async function readFileOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw new AppError('DISC_005', 'the file cannot be read', { cause, phase: 'discovery' })
  }
}
