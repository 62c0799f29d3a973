import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { byPath } from '#domain/repo-path.ts'
import { msSince } from '#platform/clock.ts'
import type { DiscoveryFilters } from './choose-files.ts'
import { type Discovery, discoverNodes } from './discover-nodes.ts'
import { listSourceFiles } from './list-source-files.ts'
import { openParsePool } from './parse-pool.ts'
import { loadQueryPacks, type PackPlaces } from './query-pack.ts'

export type FolderOptions = {
  filters?: DiscoveryFilters
  packs?: PackPlaces
  /** Parsing threads; 0 is one per core. */
  threads?: number
}

/** Finds the code nodes of a folder on this machine, in process; git and services are not needed. */
export async function discoverFolder(root: string, options: FolderOptions, signal: AbortSignal): Promise<Discovery> {
  const start = performance.now()
  const packs = await loadQueryPacks(options.packs)
  const listed = await listSourceFiles(root, signal)
  const pool = openParsePool({ threads: options.threads ?? 0 })
  try {
    // Nothing is cached here, so a path names its content well enough and no file is read twice.
    const files = listed.files.map(({ path, size }) => ({ path, size, hash: path }))
    const read = (path: string) => readFileOf(root, path)
    const found = await discoverNodes({ files, read, filters: options.filters ?? {} }, { pool, packs }, signal)
    const skipped = [...listed.skipped, ...found.skipped].toSorted(byPath)
    return { ...found, skipped, durationMs: msSince(start) }
  } finally {
    await pool.close()
  }
}

async function readFileOf(root: string, path: string): Promise<Uint8Array> {
  try {
    return await readFile(join(root, path))
  } catch (cause) {
    throw new AppError('DISC_005', 'the file cannot be read', { cause, phase: 'discovery' })
  }
}
