import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { SkippedFile } from '#domain/code-node.ts'
import { isSecretByName, secretReason } from '#domain/path-purpose.ts'
import { byPath } from '#domain/repo-path.ts'
import type { SkipKind } from '#domain/run.ts'
import { isOwnOutput, isVendoredName, submodulePaths, vendoredFolder } from '#domain/foreign-paths.ts'
import { ignoreLayer, type IgnoreLayer, isIgnored, layersAbove, readRuleFile } from './git-ignore.ts'
import { gitEnv } from './child-env.ts'
import type { Env } from './env.ts'
import { gitSettings } from './run-program.ts'

export type EntryKind = 'file' | 'folder' | 'link' | 'other'

/** Is anything but a folder; `path` is relative to the folder that was walked. */
export type WalkedEntry = { path: string; kind: Exclude<EntryKind, 'folder'> }

export type WalkedFolder = {
  entries: WalkedEntry[]
  skipped: SkippedFile[]
  /** Some of the entries are named by a .gitignore file, and there because git tracks them. */
  hasTrackedIgnored: boolean
}

export type WalkOptions = {
  passOver(path: string, kind: EntryKind): string | undefined
  include: readonly SkipKind[]
  /** Is that of the caller, with which git is found and finds its settings. */
  env: Env
}

const maxDepth = 64
const atOnce = 16

/** The folder's owner has named what is skipped for this reason. */
export const ignoredReason = 'ignored by .gitignore'

type Visit = { path: string; layers: readonly IgnoreLayer[]; isIgnored: boolean }
type Walk = WalkedFolder &
  WalkOptions & { top: string; isCheckout: boolean; tracked: TrackedIgnored; submodules: Set<string> }

/**
 * Finds the files that are their owner's own work, sorted by path. Not entered, but in `skipped` with a reason: installed
 * packages, git-ignored folders, repositories that are no submodules, what `passOver` names, folders that cannot be listed. What
 * git tracks is not ignored; our own output is in neither list. Throws when `root` cannot be listed.
 */
export async function walkFolder(root: string, options: WalkOptions, signal: AbortSignal): Promise<WalkedFolder> {
  const top = resolve(root)
  const above = await layersAbove(top)
  const tracked = above === undefined ? nothingTracked : await trackedIgnored(top, options.env, signal)
  const walked = { entries: [], skipped: [], hasTrackedIgnored: false, submodules: new Set<string>() }
  const walk: Walk = { ...walked, ...options, top, isCheckout: above !== undefined, tracked }
  const visits: Visit[] = [{ path: '', layers: above ?? [], isIgnored: false }]
  while (visits.length > 0) {
    signal.throwIfAborted()
    const more = await Promise.all(visits.splice(-atOnce).map((visit) => visitFolder(walk, visit)))
    visits.push(...more.flat())
  }
  const { entries, skipped, hasTrackedIgnored } = walk
  return { entries: entries.toSorted(byPath), skipped: skipped.toSorted(byPath), hasTrackedIgnored }
}

async function visitFolder(walk: Walk, { path, layers, isIgnored: inIgnored }: Visit): Promise<Visit[]> {
  const folder = join(walk.top, path)
  const entries = await listFolder(walk, folder, path)
  const reason = path === '' ? undefined : foreignFolder(walk, path, entries)
  if (reason !== undefined) {
    walk.skipped.push({ path, reason })
    return []
  }
  if (entries.some(({ name }) => name === '.gitmodules')) {
    const text = await readRuleFile(join(folder, '.gitmodules'))
    for (const submodule of submodulePaths(path, text ?? '')) walk.submodules.add(submodule)
  }
  // As in git, no rule takes back the content of an ignored folder.
  const own = inIgnored ? undefined : await ignoreLayer(folder)
  const rules = own === undefined ? layers : [...layers, own]
  const visits: Visit[] = []
  for (const entry of entries) {
    if (isOwnOutput(entry.name)) continue
    const inside = path === '' ? entry.name : `${path}/${entry.name}`
    const kind = kindOf(entry)
    const unwanted = reasonToSkip(walk, inside, kind)
    const ignored = unwanted === undefined && isNamedByIgnore(walk, inside, kind, rules)
    const isTracked = ignored && (kind === 'folder' ? walk.tracked.folders : walk.tracked.files).has(inside)
    if (unwanted !== undefined) walk.skipped.push({ path: inside, reason: unwanted })
    else if (ignored && !isTracked) walk.skipped.push({ path: inside, reason: ignoredReason })
    else if (kind === 'folder') visits.push({ path: inside, layers: rules, isIgnored: ignored })
    else {
      walk.entries.push({ path: inside, kind })
      walk.hasTrackedIgnored ||= isTracked
    }
  }
  return visits
}

function foreignFolder({ include, isCheckout, submodules }: Walk, path: string, entries: Dirent[]): string | undefined {
  if (!include.includes('vendored') && entries.some(({ name }) => vendoredFolder(`${path}/${name}`) === path))
    return 'vendored'
  const isRepository = entries.some(({ name }) => name === '.git')
  if (!isRepository || !isCheckout || submodules.has(path) || include.includes('submodules')) return undefined
  return 'a git repository of its own'
}

function reasonToSkip({ include, passOver }: Walk, path: string, kind: EntryKind): string | undefined {
  // A name that is not UTF-8 may, read as text, be the name of another file.
  if (path.includes('\uFFFD')) return 'the name is not UTF-8'
  if (path.split('/').length > maxDepth) return `deeper than ${maxDepth} folders`
  if (kind === 'folder' && !include.includes('vendored') && isVendoredName(basename(path))) return 'vendored'
  if (kind !== 'folder' && !include.includes('secrets') && isSecretByName(path)) return secretReason
  return passOver(path, kind)
}

function isNamedByIgnore(walk: Walk, path: string, kind: EntryKind, rules: readonly IgnoreLayer[]): boolean {
  return !walk.include.includes('ignored') && isIgnored(rules, join(walk.top, path), kind === 'folder')
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

const run = promisify(execFile)
const maxListingBytes = 256 * 1024 ** 2

type TrackedIgnored = { files: ReadonlySet<string>; folders: ReadonlySet<string> }

const nothingTracked: TrackedIgnored = { files: new Set(), folders: new Set() }

async function trackedIgnored(root: string, env: Env, signal: AbortSignal): Promise<TrackedIgnored> {
  const command = ['ls-files', '-z', '--cached', '--ignored', '--exclude-standard']
  const options = { cwd: root, signal, maxBuffer: maxListingBytes, env: gitEnv(env) }
  const listed = await run('git', [...gitSettings, ...command], options).catch(() => undefined)
  signal.throwIfAborted()
  const files = new Set((listed?.stdout ?? '').split('\0').filter((path) => path !== ''))
  const folders = new Set<string>()
  for (const path of files) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) folders.add(path.slice(0, at))
  }
  return { files, folders }
}
