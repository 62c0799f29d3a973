import type { FileChange } from '#domain/change-set.ts'
import { parseRepoPath, type RepoPath } from '#domain/repo-path.ts'
import type { ReadSet } from '#objects/attempt-record.ts'
import { editsBetween } from './edits-between.ts'
import { openReadLog } from './read-log.ts'
import { openOverlay, type WrittenFile } from './overlay.ts'
import { refuseWrite, type PathKind } from './refuse-write.ts'
import { WorkspaceFault } from './workspace-fault.ts'

/** The immutable layer below: the files of a snapshot by path, and their bytes by hash. */
export type BaseLayer = {
  find(path: RepoPath): { hash: string } | undefined
  /** What is there, readable or not; undefined: nothing. */
  kindAt(path: RepoPath): PathKind | undefined
  /** Names directly inside a folder ('' is the root), folders with a trailing slash, sorted. */
  list(folder: string): readonly string[]
  read(hash: string): Promise<Uint8Array>
}

/** A copy-on-write view of a snapshot for one attempt: reads fall through and are recorded, writes stay here. */
export type Workspace = {
  /** UTF-8 text of a file. Throws WorkspaceFault: not-found, not-text or TOOL_007. */
  readText(path: string): Promise<string>
  /** The file's text in the base, whatever was written since. */
  readBase(path: string): Promise<string>
  /** Throws what `git apply` would refuse: TOOL_007, or WorkspaceFault refused or too-large. */
  writeText(path: string, text: string): Promise<void>
  /** The hash of a file's blob in the base. Throws WorkspaceFault: not-found. */
  baseHash(path: string): string
  exists(path: string): boolean
  list(folder: string): string[]
  /** What differs from the base, sorted by path, as edits on the base blobs. */
  changes(): Promise<FileChange[]>
  changedPaths(): string[]
  reads(): ReadSet
  /** What was written, sorted by path. */
  written(): WrittenFile[]
}

/** What another attempt wrote and read before this one goes on from there. */
export type WorkspaceStart = { written: readonly { path: string; text: string }[]; reads: ReadSet }

const maxFileBytes = 4_000_000

/** Opens a workspace over `base`, with an empty overlay or the one of `start`. Nothing is written to disk. */
export function openWorkspace(base: BaseLayer, start?: WorkspaceStart): Workspace {
  const overlay = openOverlay()
  const log = openReadLog(start?.reads)
  for (const { path, text } of start?.written ?? []) overlay.write(inside(path), text)

  async function readBase(raw: string): Promise<string> {
    const path = inside(raw)
    const file = base.find(path)
    log.content(path, file?.hash)
    if (file === undefined) throw new WorkspaceFault('not-found', `no such file: ${path}`)
    return decode(path, await base.read(file.hash))
  }

  return {
    readBase,
    baseHash(raw) {
      const path = inside(raw)
      const file = base.find(path)
      if (file === undefined) throw new WorkspaceFault('not-found', `no such file: ${path}`)
      return file.hash
    },
    readText: async (raw) => overlay.textOf(inside(raw)) ?? readBase(raw),
    async writeText(raw, text) {
      const path = inside(raw)
      refuseWrite(path, (at) => overlay.kindAt(at) ?? base.kindAt(at))
      refuseLarge(path, text)
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

function refuseLarge(path: RepoPath, text: string): void {
  if (Buffer.byteLength(text) <= maxFileBytes) return
  throw new WorkspaceFault('too-large', `${path} would be larger than ${maxFileBytes} bytes`)
}

async function changeOf(path: RepoPath, text: string, base: BaseLayer): Promise<FileChange | undefined> {
  const file = base.find(path)
  if (file === undefined) return { kind: 'create', path, content: text }
  const edits = editsBetween(await base.read(file.hash), Buffer.from(text))
  return edits.length === 0 ? undefined : { kind: 'edit', path, baseHash: file.hash, edits }
}

function decode(path: RepoPath, bytes: Uint8Array): string {
  try {
    // The byte order mark stays in the text, so that what is written back has it again.
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
