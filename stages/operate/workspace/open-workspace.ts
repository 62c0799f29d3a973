import type { FileChange } from '#domain/change-set.ts'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { isGitFolder, parseRepoPath, type RepoPath } from '#domain/repo-path.ts'
import type { ReadSet } from '#store/objects/attempt-record.ts'
import { type BaseLayer, foldersOf, type PathKind } from './base-layer.ts'
import { editsBetween } from '#change-sets/edits-between.ts'
import { openOverlay, type Overlay, type Written } from './overlay.ts'

/**
 * A copy-on-write view of a snapshot for one attempt: reads are recorded, and writes and deletions stay in memory. A path
 * that leads out of the repository is TOOL_007, and so is a change in git's own folder or through a link. A file that is
 * not there is WorkspaceFault not-found; a change that no patch could make is refused.
 */
export type Workspace = {
  /** Reads the UTF-8 text of a file. Throws WorkspaceFault not-text. */
  readText(path: string): Promise<string>
  /** The texts of at most `maxFiles` files by path. Throws WorkspaceFault too-large for more files or bytes. */
  readTexts(paths: readonly string[]): Promise<Map<RepoPath, string>>
  readBase(path: string): Promise<string>
  readBaseBytes(path: string): Promise<Uint8Array>
  /** Keeps the executable bit unless `executable` says otherwise. WorkspaceFault too-large, or not-text. */
  writeText(path: string, text: string, executable?: boolean): Promise<void>
  /** Writes all of the files, at most `maxFiles`, or none. Throws as `writeText` does. */
  writeTexts(files: ReadonlyMap<string, string>): Promise<void>
  deleteFile(path: string): Promise<void>
  /** Throws WorkspaceFault not-text for a file that is no text, refused when there is something at `to`. */
  renameFile(from: string, to: string): Promise<void>
  baseHash(path: string): string
  exists(path: string): boolean
  list(folder: string): string[]
  /** Returns what differs from the base, sorted by path, as edits on the base blobs. */
  changes(): Promise<FileChange[]>
  changedPaths(): string[]
  reads(): ReadSet
  written(): Written
  writtenFiles(): WorkspaceFile[]
}

export type WorkspaceFile = { path: RepoPath; text: string; executable: boolean }

export type WorkspaceStart = Written & { reads: ReadSet }

const maxFileBytes = 4_000_000
/** Limits one call that reads or writes several files. All of them together are no larger than one file may be. */
const maxFiles = 1_000

/** Opens a workspace over `base`, with an empty overlay or the one of `start`. Nothing is written to disk. */
export function openWorkspace(base: BaseLayer, start?: WorkspaceStart): Workspace {
  const log = openReadLog(start?.reads)
  const overlay = openOverlay(loggingLists(base, log))
  for (const { path, text, executable } of start?.written ?? []) overlay.write(inside(path), text, executable)
  for (const path of start?.deleted ?? []) overlay.delete(inside(path))
  const readable = readMethods({ base, overlay, log })
  return {
    ...readable,
    ...writeMethods({ base, overlay, log }, readable),
    async changes() {
      const changes = await Promise.all(overlay.paths().map((path) => changeOf(path, overlay, base)))
      return changes.filter((change) => change !== undefined)
    },
    changedPaths: overlay.paths,
    reads: log.readSet,
    written: overlay.written,
    writtenFiles: () =>
      overlay.written().written.map(({ path, text }) => ({ path, text, executable: overlay.isExecutable(path) })),
  }
}

type Layers = { base: BaseLayer; overlay: Overlay; log: ReadLog }

function readMethods({ base, overlay, log }: Layers) {
  function hashOf(path: RepoPath): string {
    const hash = base.find(path)?.hash
    log.content(path, hash)
    return hash ?? notFound(path)
  }

  const baseText = async (path: RepoPath) => decode(path, await base.read(hashOf(path)))
  const readText = async (path: RepoPath) =>
    overlay.fileAt(path)?.text ?? (overlay.isDeleted(path) ? notFound(path) : baseText(path))

  return {
    readText: async (raw: string) => readText(inside(raw)),
    async readTexts(raw: readonly string[]) {
      requireFew(raw)
      const texts = new Map<RepoPath, string>()
      let bytes = 0
      for (const path of new Set(raw.map(inside))) {
        const text = await readText(path)
        texts.set(path, text)
        requireSmall('all files together', (bytes += Buffer.byteLength(text)))
      }
      return texts
    },
    readBase: async (raw: string) => baseText(inside(raw)),
    readBaseBytes: async (raw: string) => base.read(hashOf(inside(raw))),
    baseHash: (raw: string) => hashOf(inside(raw)),
    exists(raw: string) {
      const path = inside(raw)
      const isInBase = base.find(path) !== undefined
      const isThere = overlay.fileAt(path) !== undefined || (isInBase && !overlay.isDeleted(path))
      if (!isThere && !isInBase) log.content(path, undefined)
      return isThere
    },
    list: (raw: string) => overlay.list(raw === '' || raw === '.' ? '' : inside(raw)),
  }
}

function writeMethods({ base, overlay, log }: Layers, { readText }: Pick<Workspace, 'readText'>) {
  function write(path: RepoPath, text: string, executable?: boolean) {
    refuseWrite(path, overlay.kindAt)
    requireSmall(path, Buffer.byteLength(text))
    // It would be written as another text.
    if (!text.isWellFormed()) throw new WorkspaceFault('not-text', `the text of ${path} has half of a character`)
    overlay.write(path, text, executable)
  }

  function remove(path: RepoPath) {
    refuseWrite(path, overlay.kindAt)
    if (overlay.kindAt(path) !== 'file') notFound(path)
    if (overlay.fileAt(path) === undefined) log.content(path, base.find(path)?.hash)
    overlay.delete(path)
  }

  function allOrNothing(change: () => void) {
    const takeBack = overlay.mark()
    try {
      change()
    } catch (error) {
      takeBack()
      throw error
    }
  }

  return {
    writeText: async (raw: string, text: string, executable?: boolean) => write(inside(raw), text, executable),
    async writeTexts(files: ReadonlyMap<string, string>) {
      requireFew([...files.keys()])
      const bytes = files.values().reduce((sum, text) => sum + Buffer.byteLength(text), 0)
      requireSmall('all files together', bytes)
      allOrNothing(() => {
        for (const [raw, text] of files) write(inside(raw), text)
      })
    },
    deleteFile: async (raw: string) => remove(inside(raw)),
    async renameFile(rawFrom: string, rawTo: string) {
      const [from, to] = [inside(rawFrom), inside(rawTo)]
      const text = await readText(from)
      if (overlay.kindAt(to) === 'file') throw refusal(`${to} exists`)
      if (base.find(to) === undefined) log.content(to, undefined)
      allOrNothing(() => {
        write(to, text, overlay.isExecutable(from))
        remove(from)
      })
    },
  }
}

function inside(raw: string): RepoPath {
  return parseRepoPath(raw, 'TOOL_007')
}

function notFound(path: RepoPath): never {
  throw new WorkspaceFault('not-found', `no such file: ${path}`)
}

function loggingLists(base: BaseLayer, log: Pick<ReadLog, 'listing'>): BaseLayer {
  return {
    ...base,
    list(folder) {
      const names = base.list(folder)
      log.listing(folder, names)
      return names
    },
  }
}

function requireFew(files: readonly unknown[]): void {
  if (files.length > maxFiles) throw new WorkspaceFault('too-large', `${files.length} files are more than ${maxFiles}`)
}

function requireSmall(what: string, bytes: number): void {
  if (bytes > maxFileBytes) throw new WorkspaceFault('too-large', `${what} would be larger than ${maxFileBytes} bytes`)
}

async function changeOf(path: RepoPath, overlay: Overlay, base: BaseLayer): Promise<FileChange | undefined> {
  const [file, before] = [overlay.fileAt(path), base.find(path)]
  const executable = file?.executable ?? before?.executable ?? false
  const bit = executable ? { executable } : {}
  if (before === undefined) return file && { kind: 'create', path, content: file.text, ...bit }
  const { hash: baseHash } = before
  if (file === undefined) return { kind: 'delete', path, baseHash, ...bit }
  const edits = editsBetween(await base.read(baseHash), Buffer.from(file.text))
  if (executable !== (before.executable ?? false)) return { kind: 'edit', path, baseHash, edits, executable }
  return edits.length === 0 ? undefined : { kind: 'edit', path, baseHash, edits }
}

function decode(path: RepoPath, bytes: Uint8Array): string {
  try {
    // The byte order mark stays in the text, so that it is written back.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new WorkspaceFault('not-text', `${path} is not UTF-8 text`, { cause })
  }
}

/** Throws when no patch could write `path`: TOOL_007 in git's own folder or through a link, WorkspaceFault where something else is there. */
function refuseWrite(path: RepoPath, kindAt: (path: RepoPath) => PathKind | undefined): void {
  if (path.split('/').some(isGitFolder)) throw new AppError('TOOL_007', `${path} is inside git's own folder`)
  for (const folder of foldersOf(path)) {
    const kind = kindAt(folder)
    refuseLink(folder, kind)
    if (kind === 'file' || kind === 'skipped') throw refusal(`${folder} is no folder to write in`)
  }
  const kind = kindAt(path)
  refuseLink(path, kind)
  if (kind === 'folder') throw refusal(`${path} is a folder`)
  if (kind === 'skipped') throw refusal(`${path} exists, but is not part of this snapshot`)
}

function refuseLink(path: string, kind: PathKind | undefined): void {
  if (kind === 'link') throw new AppError('TOOL_007', `${path} is a link, and links are not followed`)
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

/** Makes the fault for a request that a model can correct, with the reason. */
export function refusal(reason: string): WorkspaceFault {
  return new WorkspaceFault('refused', reason)
}

/** Returns undefined where the workspace refuses: what is read is not there, no text or too large. */
export async function unlessRefused<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof WorkspaceFault) return undefined
    throw error
  }
}

type ReadLog = ReturnType<typeof openReadLog>

/** Notes what an attempt reads, for its record: its result may be reused while all of that is unchanged. */
function openReadLog(start: ReadSet = { contents: {}, listings: {}, absences: [] }) {
  const contents = new Map<string, string>(Object.entries(start.contents))
  const listings = new Map(Object.entries(start.listings))
  const absences = new Set<string>(start.absences)
  return {
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
