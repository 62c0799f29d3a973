import { lstat, readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { AppError, unreachable } from '#domain/error.ts'
import { byPath } from '#domain/repo-path.ts'
import { msSince } from '#platform/clock.ts'
import type { Env } from '#platform/env.ts'
import type { SkippedFile } from '#domain/code-node.ts'
import { type EntryKind, walkFolder } from '#platform/walk-folder.ts'
import type { DiscoveryFilters } from './choose-files.ts'
import { discoverNodes, type Discovery, type DiscoveryInput } from './discover-nodes.ts'
import { type IndexFile, indexIn } from './index-file.ts'
import { openParsePool } from './parse-pool.ts'
import { loadQueryPacks, type PackPlaces, type QueryPack } from './query-pack.ts'
import { hiddenReason } from './unwanted/unwanted-path.ts'

export type FolderOptions = {
  filters?: DiscoveryFilters
  packs?: PackPlaces
  /** Parsing threads; 0 is one per core. */
  threads?: number
  /** The folder of the caches of earlier discoveries; without it every file is parsed. */
  indexDir?: string
  /** Is where git is found and finds its settings; by default the system's git runs, without settings of a user. */
  env?: Env
}

/** Two changes within one tick of the file system's clock look the same, so a file that changed this recently is not recognised as unchanged. */
const unsettledMs = 2000

/** Finds the code nodes of a folder on this machine, in process; git and services are not needed. */
export async function discoverFolder(root: string, options: FolderOptions, signal: AbortSignal): Promise<Discovery> {
  const start = performance.now()
  const top = resolve(root)
  const packs = await loadQueryPacks(options.packs)
  const listedAtMs = Date.now()
  const listed = await listSourceFiles(top, options, signal)
  const settled = listed.files.filter(({ changedMs }) => changedMs < listedAtMs - unsettledMs)
  const known = await indexIn(options.indexDir, top, new Map(settled.map(({ path, state }) => [path, state])))
  // A path may stand for its content here, since no file is read twice.
  const files = listed.files.map(({ path, size }) => ({ path, size, hash: path }))
  const fileOf = (path: string) => join(top, path)
  const source = { files, fileOf, read: (path: string) => readFileOf(fileOf(path)), skipped: listed.skipped, known }
  const discovery = await discoverListed(source, packs, options, signal)
  return { ...discovery, durationMs: msSince(start) }
}

type ListedSource = Pick<DiscoveryInput, 'files' | 'read' | 'fileOf'> & {
  skipped: readonly SkippedFile[]
  known: IndexFile | undefined
}

/** Finds the nodes of files whose .gitignore was applied when they were listed, and saves them for the next discovery. */
export async function discoverListed(
  { skipped, known, ...source }: ListedSource,
  packs: ReadonlyMap<string, QueryPack>,
  { filters = {}, threads = 0 }: FolderOptions,
  signal: AbortSignal,
): Promise<Discovery> {
  const pool = openParsePool({ threads })
  try {
    const all: DiscoveryFilters = { ...filters, include: [...(filters.include ?? []), 'ignored'] }
    const discovery = await discoverNodes({ ...source, filters: all, ...(known && { known }) }, { pool, packs }, signal)
    await known?.save()
    return { ...discovery, skipped: [...skipped, ...discovery.skipped].toSorted(byPath) }
  } finally {
    await pool.close()
  }
}

async function readFileOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw new AppError('DISC_005', 'the file cannot be read', { cause, phase: 'discovery' })
  }
}

/**
 * `state` changes whenever the content does: size, times to the nanosecond, and the inode.
 * `changedMs` is when it last changed, by the file system's clock.
 */
type ListedFile = { path: string; size: number; state: string; changedMs: number }

const atOnce = 256

/** Lists regular files under `root`, relative to it, and skipped paths with their reasons. DISC_005 when `root` cannot be listed. */
async function listSourceFiles(root: string, { filters, env = {} }: FolderOptions, signal: AbortSignal) {
  const include = filters?.include ?? []
  const walked = await walkFolder(root, { passOver: reasonToSkip, include, env }, signal).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new AppError('DISC_005', `folder ${root} cannot be listed`, { cause, phase: 'discovery' })
  })
  const files: ListedFile[] = []
  const { skipped } = walked
  for (let at = 0; at < walked.entries.length; at += atOnce) {
    signal.throwIfAborted()
    const some = walked.entries.slice(at, at + atOnce)
    for (const file of await Promise.all(some.map(({ path }) => lookAt(root, path)))) {
      if ('reason' in file) skipped.push(file)
      else files.push(file)
    }
  }
  return { files, skipped }
}

/** The file may have been removed meanwhile. */
async function lookAt(root: string, path: string): Promise<ListedFile | SkippedFile> {
  try {
    const { size, ctimeMs, mtimeNs, ctimeNs, ino } = await lstat(join(root, path), { bigint: true })
    const state = [size, mtimeNs, ctimeNs, ino].join(' ')
    return { path, size: Number(size), state, changedMs: Number(ctimeMs) }
  } catch {
    return { path, reason: 'DISC_005: the file cannot be read' }
  }
}

function reasonToSkip(path: string, kind: EntryKind): string | undefined {
  switch (kind) {
    case 'file':
      return undefined
    case 'folder':
      return basename(path).startsWith('.') ? hiddenReason : undefined
    case 'link':
      return 'symbolic link'
    case 'other':
      return 'not a regular file'
    default:
      return unreachable(kind)
  }
}
