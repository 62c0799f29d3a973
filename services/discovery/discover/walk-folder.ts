import type { Dirent } from 'node:fs'
import { access, lstat, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { type IgnoreLayer, ignoreLayer, isIgnored, layersAbove } from './git-ignore.ts'
import { unwantedFolder, vendoredFolder } from './unwanted-path.ts'

type WalkedFile = { path: string; size: number }

export type WalkedFolder = { files: WalkedFile[]; skipped: SkippedFile[] }

/** Snapshots have the same bound; what .gitignore rules cost depends on it, too. */
const maxDepth = 64

type Visit = { path: string; layers: readonly IgnoreLayer[] }

/**
 * Lists the regular files under `root` that discovery may want, with paths relative to it. Vendored, hidden and
 * git-ignored folders are not entered, links not followed; each is in `skipped` once, with its reason. DISC_005 when
 * `root` is no folder that can be listed; a folder below it that cannot is skipped.
 */
export async function walkFolder(root: string, signal: AbortSignal): Promise<WalkedFolder> {
  const top = resolve(root)
  const walked: WalkedFolder = { files: [], skipped: [] }
  const visits: Visit[] = [{ path: '', layers: await layersAbove(top, hasGit) }]
  for (let visit = visits.pop(); visit !== undefined; visit = visits.pop()) {
    signal.throwIfAborted()
    visits.push(...(await visitFolder(top, visit, walked)))
  }
  return walked
}

/** Takes in one folder's files; returns its folders still to visit. */
async function visitFolder(top: string, { path, layers }: Visit, walked: WalkedFolder): Promise<Visit[]> {
  const folder = join(top, path)
  const entries = await listEntries(folder, path, walked)
  if (path !== '' && entries.some((entry) => vendoredFolder(`${path}/${entry.name}`) === path)) {
    walked.skipped.push({ path, reason: 'vendored' })
    return []
  }
  const own = await ignoreLayer(folder)
  const rules = own === undefined ? layers : [...layers, own]
  const visits: Visit[] = []
  for (const entry of entries) {
    const inside = path === '' ? entry.name : `${path}/${entry.name}`
    const tooDeep = inside.split('/').length > maxDepth ? `deeper than ${maxDepth} folders` : undefined
    const reason = tooDeep ?? reasonToSkip(entry, join(top, inside), rules)
    if (reason !== undefined) walked.skipped.push({ path: inside, reason })
    else if (entry.isDirectory()) visits.push({ path: inside, layers: rules })
    else await takeFile(top, inside, walked)
  }
  return visits
}

/** A name that is not UTF-8 cannot be asked for again, and a file may be gone by now: both are skipped. */
async function takeFile(top: string, path: string, walked: WalkedFolder): Promise<void> {
  try {
    walked.files.push({ path, size: (await lstat(join(top, path))).size })
  } catch {
    walked.skipped.push({ path, reason: 'DISC_005: the file cannot be read' })
  }
}

function reasonToSkip(entry: Dirent, absolute: string, rules: readonly IgnoreLayer[]): string | undefined {
  if (entry.isSymbolicLink()) return 'symbolic link'
  if (!entry.isDirectory() && !entry.isFile()) return 'not a regular file'
  const byName = entry.isDirectory() ? unwantedFolder(entry.name, false) : undefined
  return byName ?? (isIgnored(rules, absolute, entry.isDirectory()) ? 'ignored by .gitignore' : undefined)
}

async function listEntries(folder: string, path: string, walked: WalkedFolder): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (cause) {
    const error = new AppError('DISC_005', `folder ${folder} cannot be listed`, { cause, phase: 'discovery' })
    if (path === '') throw error
    walked.skipped.push({ path, reason: `${error.code}: the folder cannot be listed` })
    return []
  }
}

async function hasGit(folder: string): Promise<boolean> {
  return access(join(folder, '.git')).then(
    () => true,
    () => false,
  )
}
