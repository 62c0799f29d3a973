import { access, constants, lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { affordableRules } from '#domain/git-ignore-rules.ts'
import { parseRepoPath, type RepoPath } from '#domain/repo-path.ts'

export type ListedFile =
  | { kind: 'file'; path: RepoPath; executable: boolean }
  | { kind: 'link'; path: RepoPath; target: string }

export type FolderListing = { files: ListedFile[]; skipped: SkippedFile[] }

/** Neither source nor ours to send: history, own state, and what package managers and interpreters make. */
const neverPacked = new Set(['.git', '.remora', 'node_modules', '__pycache__', '.venv'])
const maxFileBytes = 64 * 1024 ** 2
const maxDepth = 64
const ownerMayExecute = 0o100

/** The rules of one folder's .gitignore, for paths that start with `prefix`. */
type IgnoreRules = { prefix: string; rules: Ignore }
type Walk = FolderListing & { root: string; signal: AbortSignal }

/**
 * What is to be sent of the folder `root`, sorted by path, and what is left out, with reasons: what .gitignore files in
 * it say, links that lead out, and what is too large, unreadable or no file. Links are not followed.
 */
export async function listFolder(root: string, signal: AbortSignal): Promise<FolderListing> {
  const walk: Walk = { root, signal, files: [], skipped: [] }
  await listInto(walk, '', [])
  walk.files.sort((one, other) => (one.path < other.path ? -1 : 1))
  walk.skipped.sort((one, other) => (one.path < other.path ? -1 : 1))
  return { files: walk.files, skipped: walk.skipped }
}

async function listInto(walk: Walk, folder: string, inherited: readonly IgnoreRules[]): Promise<void> {
  walk.signal.throwIfAborted()
  const entries = await readdir(join(walk.root, folder), { withFileTypes: true })
  const rules = [...inherited, ...(await ownRules(walk.root, folder))]
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    const reason = reasonToSkip(path, entry.isDirectory(), rules)
    if (reason !== undefined) walk.skipped.push({ path, reason })
    else if (entry.isDirectory()) await listInto(walk, path, rules)
    else await listOne(walk, path)
  }
}

async function listOne(walk: Walk, path: RepoPath): Promise<void> {
  const full = join(walk.root, path)
  const skip = (reason: string) => void walk.skipped.push({ path, reason })
  const stats = await lstat(full)
  if (stats.isSymbolicLink()) {
    const target = await readlink(full)
    if (leadsOut(path, target)) skip('a link that leads out of the folder')
    else walk.files.push({ kind: 'link', path, target })
    return
  }
  if (!stats.isFile()) return skip('not a file')
  if (stats.size > maxFileBytes) return skip(`larger than ${maxFileBytes} bytes`)
  if (!(await isReadable(full))) return skip('not readable')
  walk.files.push({ kind: 'file', path, executable: (stats.mode & ownerMayExecute) !== 0 })
}

function reasonToSkip(path: string, isFolder: boolean, rules: readonly IgnoreRules[]): string | undefined {
  const name = posix.basename(path)
  if (neverPacked.has(name)) return `${name} is never sent`
  if (path.includes('\uFFFD')) return 'the name is not UTF-8'
  if (path.split('/').length > maxDepth) return `deeper than ${maxDepth} folders`
  try {
    parseRepoPath(path, 'INTAKE_002')
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
  return isIgnored(isFolder ? `${path}/` : path, rules) ? 'ignored by .gitignore' : undefined
}

/** As in Git, the deepest .gitignore that says something about a path decides. */
function isIgnored(path: string, rules: readonly IgnoreRules[]): boolean {
  const answers = rules.map((own) => own.rules.test(path.slice(own.prefix.length)))
  return answers.findLast((answer) => answer.ignored || answer.unignored)?.ignored ?? false
}

async function ownRules(root: string, folder: string): Promise<IgnoreRules[]> {
  try {
    const text = await readFile(join(root, folder, '.gitignore'), 'utf8')
    return [{ prefix: folder === '' ? '' : `${folder}/`, rules: ignore().add(affordableRules(text)) }]
  } catch {
    return [] // there is none, or none that can be read
  }
}

function leadsOut(path: string, target: string): boolean {
  const reached = posix.join(posix.dirname(path), target)
  return target.startsWith('/') || target.includes('\\') || reached === '..' || reached.startsWith('../')
}

async function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  )
}
