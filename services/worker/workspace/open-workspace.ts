import type { FileChange } from '#domain/change-set.ts'
import { parseRepoPath, type RepoPath } from '#domain/repo-path.ts'
import type { ReadSet } from '#objects/attempt-record.ts'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { editsBetween } from './edits-between.ts'

/** The immutable layer under a workspace: the files of a snapshot by path, and their bytes by hash. */
export type BaseLayer = {
  find(path: RepoPath): { hash: string } | undefined
  /** What is there, readable or not; undefined for nothing. */
  kindAt(path: RepoPath): PathKind | undefined
  /** Names directly inside a folder ('' is the root), folders with a trailing slash, sorted. */
  list(folder: string): readonly string[]
  read(hash: string): Promise<Uint8Array>
}

/** A copy-on-write view of a snapshot for one attempt: reads are recorded, and writes stay in memory. */
export type Workspace = {
  /** UTF-8 text of a file. Throws WorkspaceFault: not-found, not-text or TOOL_007. */
  readText(path: string): Promise<string>
  readBase(path: string): Promise<string>
  /** Throws TOOL_007, or WorkspaceFault refused or too-large, for a file that `git apply` would refuse. */
  writeText(path: string, text: string): Promise<void>
  /** The hash of a file's blob in the base. Throws WorkspaceFault: not-found. */
  baseHash(path: string): string
  exists(path: string): boolean
  list(folder: string): string[]
  /** What differs from the base, sorted by path, as edits on the base blobs. */
  changes(): Promise<FileChange[]>
  changedPaths(): string[]
  reads(): ReadSet
  written(): WrittenFile[]
}

export type WorkspaceStart = { written: readonly { path: string; text: string }[]; reads: ReadSet }

const maxFileBytes = 4_000_000

/** Opens a workspace over `base`, with an empty overlay or the one of `start`. Nothing is written to disk. */
export function openWorkspace(base: BaseLayer, start?: WorkspaceStart): Workspace {
  const overlay = openOverlay()
  const log = openReadLog(start?.reads)
  for (const { path, text } of start?.written ?? []) overlay.write(inside(path), text)

  function hashOf(path: RepoPath): string {
    const file = base.find(path)
    if (file === undefined) throw new WorkspaceFault('not-found', `no such file: ${path}`)
    return file.hash
  }

  async function readBase(raw: string): Promise<string> {
    const path = inside(raw)
    log.content(path, base.find(path)?.hash)
    return decode(path, await base.read(hashOf(path)))
  }

  return {
    readBase,
    baseHash: (raw) => hashOf(inside(raw)),
    readText: async (raw) => overlay.textOf(inside(raw)) ?? readBase(raw),
    async writeText(raw, text) {
      const path = inside(raw)
      refuseWrite(path, (at) => overlay.kindAt(at) ?? base.kindAt(at))
      if (Buffer.byteLength(text) > maxFileBytes)
        throw new WorkspaceFault('too-large', `${path} would be larger than ${maxFileBytes} bytes`)
      overlay.write(path, text)
    },
    exists(raw) {
      const path = inside(raw)
      const isThere = overlay.textOf(path) !== undefined || base.find(path) !== undefined
      if (!isThere) log.content(path, undefined)
      return isThere
    },
    list(raw) {
      const folder = raw === '' || raw === '.' ? '' : inside(raw)
      const below = base.list(folder)
      log.listing(folder, below)
      return mergedListing(below, overlay.paths(), folder)
    },
    async changes() {
      const changes = await Promise.all(overlay.files().map(({ path, text }) => changeOf(path, text, base)))
      return changes.filter((change) => change !== undefined)
    },
    changedPaths: () => overlay.files().map(({ path }) => path),
    reads: log.readSet,
    written: overlay.files,
  }
}

function inside(raw: string): RepoPath {
  return parseRepoPath(raw, 'TOOL_007')
}

async function changeOf(path: RepoPath, text: string, base: BaseLayer): Promise<FileChange | undefined> {
  const file = base.find(path)
  if (file === undefined) return { kind: 'create', path, content: text }
  const edits = editsBetween(await base.read(file.hash), Buffer.from(text))
  return edits.length === 0 ? undefined : { kind: 'edit', path, baseHash: file.hash, edits }
}

function decode(path: RepoPath, bytes: Uint8Array): string {
  try {
    // The byte order mark stays in the text, so that it is written back.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new WorkspaceFault('not-text', `${path} is not UTF-8 text`, { cause })
  }
}

function mergedListing(below: readonly string[], written: Iterable<RepoPath>, folder: string): string[] {
  const names = new Set(below)
  const prefix = folder === '' ? '' : `${folder}/`
  for (const path of written) {
    if (!path.startsWith(prefix)) continue
    const [name, ...deeper] = path.slice(prefix.length).split('/')
    names.add(deeper.length === 0 ? (name ?? '') : `${name}/`)
  }
  return [...names].toSorted()
}

/** What a repository has at a path; `skipped` is something that is not part of the snapshot. */
export type PathKind = 'file' | 'folder' | 'link' | 'skipped'

/**
 * Throws when a patch with a file at `path` could not be applied to the repository. `kindAt` includes what was written
 * so far. TOOL_007: a path in git's own folder or through a link. WorkspaceFault: something else is at the path.
 */
function refuseWrite(path: RepoPath, kindAt: (path: RepoPath) => PathKind | undefined): void {
  if (path.split('/').some(isGitFolder)) throw new AppError('TOOL_007', `${path} is inside git's own folder`)
  for (const folder of foldersOf(path)) {
    const kind = kindAt(folder)
    refuseLink(folder, kind)
    if (kind === 'file' || kind === 'skipped') throw new WorkspaceFault('refused', `${folder} is no folder to write in`)
  }
  const kind = kindAt(path)
  refuseLink(path, kind)
  if (kind === 'folder') throw new WorkspaceFault('refused', `${path} is a folder`)
  if (kind === 'skipped') throw new WorkspaceFault('refused', `${path} exists, but is not part of this snapshot`)
}

function refuseLink(path: string, kind: PathKind | undefined): void {
  if (kind === 'link') throw new AppError('TOOL_007', `${path} is a link, and links are not followed`)
}

/** Whether git treats the name as `.git`: on every system it also refuses the names that Windows and macOS read so. */
function isGitFolder(name: string): boolean {
  return /^(?:\.git|git~1)[. ]*(?::.*)?$/i.test(name.replaceAll(ignoredByMacOs, ''))
}

/** As in git's is_hfs_dotgit: code points that a Mac's file system ignores in names. */
const ignoredByMacOs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** The folders that a path is in, the innermost first, without the root. */
export function* foldersOf(path: string): Generator<string> {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield path.slice(0, at)
}

/** A request of a tool that the workspace refuses. It is reported to the model, which can do something about it. */
export class WorkspaceFault extends Error {
  override readonly name = 'WorkspaceFault'
  readonly kind: 'not-found' | 'not-text' | 'too-large' | 'refused'

  constructor(kind: WorkspaceFault['kind'], message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.kind = kind
  }
}

type WrittenFile = { path: RepoPath; text: string }

function openOverlay() {
  const texts = new Map<RepoPath, string>()
  const folders = new Set<string>()
  return {
    textOf: (path: RepoPath) => texts.get(path),
    kindAt(path: RepoPath): PathKind | undefined {
      if (texts.has(path)) return 'file'
      return folders.has(path) ? 'folder' : undefined
    },
    write(path: RepoPath, text: string) {
      texts.set(path, text)
      for (const folder of foldersOf(path)) folders.add(folder)
    },
    paths: () => texts.keys(),
    files: () =>
      Array.from(texts, ([path, text]) => ({ path, text })).toSorted((one, other) => (one.path < other.path ? -1 : 1)),
  }
}

/** What an attempt read, for its record: its result may be reused while all of that is unchanged. */
function openReadLog(start: ReadSet = { contents: {}, listings: {}, absences: [] }) {
  const contents = new Map<string, string>(Object.entries(start.contents))
  const listings = new Map(Object.entries(start.listings))
  const absences = new Set<string>(start.absences)
  return {
    /** A file's content, by hash; undefined for a file that does not exist. */
    content(path: RepoPath, hash: string | undefined) {
      if (hash === undefined) absences.add(path)
      else contents.set(path, hash)
    },
    listing: (folder: string, names: readonly string[]) => void listings.set(folder, sha256(names.join('\n'))),
    readSet: (): ReadSet => ({
      contents: Object.fromEntries(contents),
      listings: Object.fromEntries(listings),
      absences: [...absences].toSorted(),
    }),
  }
}
