import { createWriteStream } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { LRUCache } from 'lru-cache'
import type { ProjectId } from '#domain/ids.ts'
import type { BlobStore } from '#objects/blob-store.ts'
import type { SnapshotView } from '#objects/snapshot.ts'
import { plainTar, type TarItem } from '#platform/gzipped-tar.ts'
import { workAhead } from '#platform/limit-concurrency.ts'

/** The files of a repository as a program is to find them. */
export type ArchiveFiles = {
  files: readonly { path: string; hash: string; executable: boolean }[]
  links: readonly { path: string; target: string }[]
  read(hash: string): Promise<Uint8Array>
}

export type SnapshotArchives = {
  /** The path of a tar of the snapshot. It can be opened until `close`, or until eight other ones have been asked for. */
  pathOf(project: ProjectId, snapshotId: string): Promise<string>
  close(): Promise<void>
}

const maxArchives = 8
const readAhead = 16

/**
 * Tars of snapshots, made once each, as files of this machine that have no name: nothing is left of them when this process ends,
 * however it ends, and no path of a repository is ever one of this machine.
 */
export function openSnapshotArchives(
  readFiles: (project: ProjectId, snapshotId: string) => Promise<ArchiveFiles>,
): SnapshotArchives {
  const archives = new LRUCache<string, Promise<FileHandle>>({
    max: maxArchives,
    dispose: (archive) => void archive.then((file) => file.close()).catch(() => {}),
  })
  return {
    async pathOf(project, snapshotId) {
      const key = `${project} ${snapshotId}`
      const known = archives.get(key) ?? readFiles(project, snapshotId).then(writeArchive)
      archives.set(key, known)
      known.catch(() => archives.delete(key))
      return `/proc/self/fd/${(await known).fd}`
    },
    close: async () => archives.clear(),
  }
}

/** For `openSnapshotArchives`: the files of stored snapshots. */
export function storedFiles(
  readSnapshot: (project: ProjectId, snapshotId: string) => Promise<SnapshotView>,
  blobs: Pick<BlobStore, 'get'>,
): (project: ProjectId, snapshotId: string) => Promise<ArchiveFiles> {
  return async (project, snapshotId) => {
    return { ...(await readSnapshot(project, snapshotId)), read: (hash) => blobs.get(project, hash) }
  }
}

async function writeArchive(files: ArchiveFiles): Promise<FileHandle> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-files-'))
  try {
    const path = join(dir, 'snapshot.tar')
    const file = await open(path, 'wx+', 0o600)
    await rm(dir, { recursive: true })
    await pipeline(Readable.from(plainTar(itemsOf(files))), createWriteStream('', { fd: file.fd, autoClose: false }))
    return file
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function* itemsOf({ files, links, read }: ArchiveFiles): AsyncGenerator<TarItem> {
  yield* workAhead(files, readAhead, async ({ path, hash, executable }) => ({
    path,
    executable,
    content: await read(hash),
  }))
  yield* links
}
