import { randomUUID } from 'node:crypto'
import { close, createWriteStream, openSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { LRUCache } from 'lru-cache'
import { AppError } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import { plainTar, type TarItem } from '#platform/gzipped-tar.ts'
import { workAhead } from '#platform/limit-concurrency.ts'

/** The files of a repository as a program is to find them. */
export type ArchiveFiles = {
  files: readonly { path: string; hash: string; executable: boolean }[]
  links: readonly { path: string; target: string }[]
  read(hash: string): Promise<Uint8Array>
}

export type SnapshotArchives = {
  /** Opens a tar of the snapshot for reading: the descriptor is the caller's to close. */
  open(project: ProjectId, snapshotId: string): Promise<number>
  close(): Promise<void>
}

const closeFile = promisify(close)
const maxArchives = 8
const readAhead = 16

/** Keeps tars of snapshots as files without a name: nothing is left of them however this process ends. */
export function openSnapshotArchives(
  readFiles: (project: ProjectId, snapshotId: string) => Promise<ArchiveFiles>,
): SnapshotArchives {
  const closing = new Set<Promise<unknown>>()
  const archives = new LRUCache<string, Promise<number>>({
    max: maxArchives,
    dispose: (archive) => {
      const closed = archive.then(closeFile).catch(() => {})
      closing.add(closed)
      void closed.finally(() => closing.delete(closed))
    },
  })
  return {
    async open(project, snapshotId) {
      const key = `${project} ${snapshotId}`
      for (;;) {
        const known = archives.get(key) ?? readFiles(project, snapshotId).then(writeArchive)
        if (archives.peek(key) !== known) archives.set(key, known)
        known.catch(() => archives.peek(key) === known && archives.delete(key))
        const fd = await known
        // In one step with the look whether it is still there: its number may be another file's once it is closed.
        if (archives.peek(key) === known) return openSync(`/proc/self/fd/${fd}`, 'r')
      }
    },
    async close() {
      archives.clear()
      await Promise.all(closing)
    },
  }
}

/** Reads the files of stored snapshots for `openSnapshotArchives`. */
export function storedFiles(
  readSnapshot: (project: ProjectId, snapshotId: string) => Promise<Omit<ArchiveFiles, 'read'>>,
  blobs: { get(project: ProjectId, hash: string): Promise<Uint8Array> },
): (project: ProjectId, snapshotId: string) => Promise<ArchiveFiles> {
  return async (project, snapshotId) => {
    return { ...(await readSnapshot(project, snapshotId)), read: (hash) => blobs.get(project, hash) }
  }
}

async function writeArchive(files: ArchiveFiles): Promise<number> {
  const fd = openNameless()
  try {
    await pipeline(Readable.from(plainTar(itemsOf(files))), createWriteStream('', { fd, autoClose: false }))
    return fd
  } catch (cause) {
    await closeFile(fd)
    if (cause instanceof AppError) throw cause
    throw new AppError('TOOL_004', 'the files for programs cannot be written to the temporary folder', { cause })
  }
}

/** In one step of this process, which may be killed at any moment. */
function openNameless(): number {
  const path = join(tmpdir(), `remora-files-${randomUUID()}`)
  const fd = openSync(path, 'wx+', 0o600)
  unlinkSync(path)
  return fd
}

async function* itemsOf({ files, links, read }: ArchiveFiles): AsyncGenerator<TarItem> {
  yield* workAhead(files, readAhead, async ({ path, hash, executable }) => ({
    path,
    executable,
    content: await read(hash),
  }))
  yield* links
}
