import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { SkippedFile } from '#domain/code-node.ts'
import { isOwnOutput } from '#domain/own-output.ts'
import { byPath } from '#domain/repo-path.ts'
import { isVendoredName, vendoredFolder } from '#domain/vendored-path.ts'
import { ignoreLayer, isIgnored, layersAbove, type IgnoreLayer } from './git-ignore.ts'

export type EntryKind = 'file' | 'folder' | 'link' | 'other'

/** Anything but a folder; `path` is relative to the folder that was walked. */
export type WalkedEntry = { path: string; kind: Exclude<EntryKind, 'folder'> }

export type WalkedFolder = { entries: WalkedEntry[]; skipped: SkippedFile[] }

/** Why its caller wants nothing of an entry, or undefined. */
export type PassOver = (path: string, kind: EntryKind) => string | undefined

/** Snapshots have the same bound; what .gitignore rules cost depends on it, too. */
const maxDepth = 64
/** Folders that are read at once. */
const atOnce = 16

type Visit = { path: string; layers: readonly IgnoreLayer[] }
type Walk = WalkedFolder & { top: string; passOver: PassOver }

/**
 * What a folder holds of its owner's own, sorted by path: the one walk behind packing and discovery, so that both see
 * the same files. Vendored and git-ignored folders and those `passOver` names are not entered, links not followed; each
 * is in `skipped` once, with its reason, as is a folder that cannot be listed. Our own output is in neither list.
 * Throws the file system's error when `root` itself cannot be listed.
 */
export async function walkFolder(root: string, passOver: PassOver, signal: AbortSignal): Promise<WalkedFolder> {
  const top = resolve(root)
  const walk: Walk = { top, passOver, entries: [], skipped: [] }
  const visits: Visit[] = [{ path: '', layers: await layersAbove(top) }]
  while (visits.length > 0) {
    signal.throwIfAborted()
    const found = await Promise.all(visits.splice(-atOnce).map((visit) => visitFolder(walk, visit)))
    visits.push(...found.flat())
  }
  return { entries: walk.entries.toSorted(byPath), skipped: walk.skipped.toSorted(byPath) }
}

/** Takes in one folder's entries; returns its folders still to visit. */
async function visitFolder(walk: Walk, { path, layers }: Visit): Promise<Visit[]> {
  const folder = join(walk.top, path)
  const found = await listFolder(walk, folder, path)
  if (path !== '' && found.some((entry) => vendoredFolder(`${path}/${entry.name}`) === path)) {
    walk.skipped.push({ path, reason: 'vendored' })
    return []
  }
  const own = await ignoreLayer(folder)
  const rules = own === undefined ? layers : [...layers, own]
  const visits: Visit[] = []
  for (const entry of found) {
    if (isOwnOutput(entry.name)) continue
    const inside = path === '' ? entry.name : `${path}/${entry.name}`
    const kind = kindOf(entry)
    const reason = reasonToSkip(walk, inside, kind, rules)
    if (reason !== undefined) walk.skipped.push({ path: inside, reason })
    else if (kind === 'folder') visits.push({ path: inside, layers: rules })
    else walk.entries.push({ path: inside, kind })
  }
  return visits
}

function reasonToSkip(walk: Walk, path: string, kind: EntryKind, rules: readonly IgnoreLayer[]): string | undefined {
  // Read as text, a name that is not UTF-8 may be that of another file.
  if (path.includes('\uFFFD')) return 'the name is not UTF-8'
  if (path.split('/').length > maxDepth) return `deeper than ${maxDepth} folders`
  if (kind === 'folder' && isVendoredName(basename(path))) return 'vendored'
  const unwanted = walk.passOver(path, kind)
  if (unwanted !== undefined) return unwanted
  return isIgnored(rules, join(walk.top, path), kind === 'folder') ? 'ignored by .gitignore' : undefined
}

async function listFolder(walk: Walk, folder: string, path: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (path === '') throw error
    walk.skipped.push({ path, reason: 'the folder cannot be listed' })
    return []
  }
}

function kindOf(entry: Dirent): EntryKind {
  if (entry.isSymbolicLink()) return 'link'
  if (entry.isDirectory()) return 'folder'
  return entry.isFile() ? 'file' : 'other'
}
