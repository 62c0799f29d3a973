import { AppError, undefinedOn } from '#domain/error.ts'
import { submodulePaths } from '#domain/foreign-paths.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { maxRuleBytes } from '#platform/git-ignore.ts'
import type { SkippedFile } from '#domain/code-node.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import { notSentFiles } from '#store/objects/not-sent-files.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { writeSnapshot } from '#store/objects/snapshot.ts'
import { admitEntry, type ArchiveContents, emptyContents, filesOf } from './archive-contents.ts'
import { archiveEntries } from './archive-entries.ts'
import { type ArchiveEntry, openSource } from './archive-source.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'

const uploadLimits = { maxCount: 32, maxBytes: 4 * 1024 ** 2 }

export type SnapshotJob = {
  projectId: ProjectId
  runId: RunId
  uploadKey: string
  request?: Pick<Run['request'], 'include' | 'notSent' | 'repository'> | undefined
}
export type SnapshotDeps = { objects: ObjectStore; blobs: BlobStore; limits: SnapshotLimits }
export type TakenSnapshot = { snapshotId: string; files: number; bytes: number; skipped: SkippedFile[] }

/**
 * Turns an archive into blobs, folders and a snapshot while it is read: nothing touches the disk. What the client has not sent is listed
 * after what is skipped here. INTAKE_001 unreadable, INTAKE_002 unsafe, INTAKE_003 over a limit. A second call gives the same id.
 */
export async function takeSnapshot(job: SnapshotJob, deps: SnapshotDeps, signal: AbortSignal): Promise<TakenSnapshot> {
  const contents = await storeFiles(job, deps, signal)
  const files = filesOf(contents)
  const skippedHere = Array.from(contents.skipped, ([path, reason]) => ({ path, reason }))
  // A list that is only shown does not fail the run.
  const notSent = (await notSentFiles(job, deps.blobs).catch(undefinedOn('STORE_003'))) ?? []
  const skipped = [...skippedHere, ...stillMissing(notSent, contents)]
  const kept = { files, links: contents.links, skipped }
  const { snapshotId, bytes } = await writeSnapshot(deps.objects, job.projectId, kept, signal)
  return { snapshotId, files: files.length, bytes, skipped }
}

/** Returns those that the archive says nothing about: what it has counts. */
function stillMissing(notSent: readonly SkippedFile[], { paths, skipped }: ArchiveContents): SkippedFile[] {
  const byPath = new Map(notSent.map((file) => [file.path, file]))
  return [...byPath.values()].filter(({ path }) => !skipped.has(path) && paths.isFree(path))
}

async function storeFiles(job: SnapshotJob, deps: SnapshotDeps, signal: AbortSignal): Promise<ArchiveContents> {
  const contents = emptyContents(deps.limits)
  const admission = { limits: deps.limits, include: job.request?.include ?? [] }
  const uploads = openUploads(uploadLimits)
  const isFetched = job.request?.repository !== undefined
  let gitmodules = ''
  try {
    const archive = await openSource(deps.objects, job.uploadKey, signal)
    const all = archiveEntries(archive, deps.limits, signal)
    for await (const entry of isFetched ? withoutTopFolder(all) : all) {
      const path = admitEntry(entry, contents, admission)
      if (path === undefined) continue
      const { size, executable } = entry
      const store = async (content: Uint8Array) => {
        if (isFetched && path === '.gitmodules' && size <= maxRuleBytes) gitmodules = Buffer.from(content).toString()
        const hash = await deps.blobs.put(job.projectId, content)
        contents.files.set(path, { path, hash, size, executable })
      }
      await uploads.add({ bytes: size, read: entry.read, store })
    }
  } catch (error) {
    signal.throwIfAborted() // an entry that the abort cut off looks damaged
    throw error
  } finally {
    await uploads.settle()
  }
  for (const { path, reason } of emptySubmodules(gitmodules, contents)) contents.skipped.set(path, reason)
  return contents
}

/** Removes the one folder that a code host puts around everything. INTAKE_001 for an archive that has none, or more at its top. */
async function* withoutTopFolder(entries: AsyncIterable<ArchiveEntry>): AsyncGenerator<ArchiveEntry> {
  let top: string | undefined
  for await (const entry of entries) {
    const { first, rest } = parted(entry.name)
    top ??= first
    const isTop = rest === ''
    if (first !== top || first === '.' || first === '..' || first === '' || (isTop && entry.type !== 'directory')) {
      throw new AppError('INTAKE_001', 'the archive of the code host does not have one folder with everything in it')
    }
    if (isTop) continue
    // The target of a hard link counts from the root of the archive, that of a symbolic link from its own folder.
    const target = entry.type === 'link' ? targetIn(top, entry.target) : entry.target
    yield { ...entry, name: rest, target }
  }
  if (top === undefined) throw new AppError('INTAKE_001', 'the archive of the code host is empty')
}

function parted(name: string): { first: string; rest: string } {
  const [first = ''] = name.split('/', 1)
  return { first, rest: name.slice(first.length).replace(/^\/+/, '') }
}

function targetIn(top: string, target: string): string {
  const { first, rest } = parted(target)
  return first === top ? rest : `../${target}`
}

const submoduleReason = 'a submodule: its code is in another repository'

/** Lists submodules: a code host's archive has their folders, with nothing in them. */
function emptySubmodules(gitmodules: string, { paths, files, links }: ArchiveContents): SkippedFile[] {
  const named = [...new Set(submodulePaths('', gitmodules))].filter((path) => paths.hasFolder(path))
  if (named.length === 0) return []
  const inUse = new Set([...files.values(), ...links].flatMap(({ path }) => foldersUp(folderOf(path))))
  return named.filter((path) => !inUse.has(path)).map((path) => ({ path, reason: submoduleReason }))
}

/** One over `maxBytes` is stored alone. `bytes` is what `read` answers. */
type Content = { bytes: number; read(): Promise<Uint8Array>; store(content: Uint8Array): Promise<void> }

function openUploads({ maxCount, maxBytes }: typeof uploadLimits) {
  const underway = new Set<Promise<void>>()
  const failures: unknown[] = []
  let held = 0
  const hasRoomFor = (bytes: number) => underway.size === 0 || (underway.size < maxCount && held + bytes <= maxBytes)
  const check = () => {
    if (failures.length > 0) throw failures[0]
  }
  const run = async (bytes: number, storing: Promise<void>) => {
    held += bytes
    await storing.catch((error: unknown) => failures.push(error))
    held -= bytes
  }
  return {
    /** Waits for room, reads the content, and starts to store it. Throws the error of that, or of storing an earlier one. */
    async add({ bytes, read, store }: Content) {
      while (!hasRoomFor(bytes)) await Promise.race(underway)
      check()
      const started = run(bytes, store(await read())).then(() => void underway.delete(started))
      underway.add(started)
    },
    async settle() {
      await Promise.all(underway)
      check()
    },
  }
}
