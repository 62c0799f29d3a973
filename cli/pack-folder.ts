import { createReadStream } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { createTarPacker } from 'modern-tar'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError, asAppError } from '#domain/error.ts'
import type { SkipKind } from '#domain/skip-kind.ts'
import { sniffArchive, sniffBytes } from '#domain/archive-magic.ts'
import { describeForeign } from '#domain/foreign-archive.ts'
import { listFolder, type ListedFile, type ListOptions } from './list-folder.ts'

/** An archive to send. `files` is null for one that was packed by somebody else. To be read once, or not at all. */
export type Packed = {
  stream: AsyncIterable<Uint8Array>
  files: number | null
  skipped: SkippedFile[]
  /** What a run of it must include: git tracks some files although .gitignore, which is sent too, names them. */
  include: SkipKind[]
}

export type PackOptions = ListOptions

/**
 * A folder is packed; a tar, gzipped tar or zip goes as it is. INTAKE_001 when `path` is missing, unreadable or something
 * else; INTAKE_007 when the folder holds nothing to send.
 */
export async function packPath(path: string, options: PackOptions): Promise<Packed> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new AppError('INTAKE_001', `${path} cannot be read: ${messageOf(error)}`, { cause: error })
  })
  if (stats.isFile()) return passArchive(path, options)
  if (!stats.isDirectory()) throw new AppError('INTAKE_001', `${path} is neither a folder nor an archive`)
  const packed = await packFolder(path, options)
  if (packed.files === 0) throw new AppError('INTAKE_007', `${path} holds no file to send`)
  return packed
}

/**
 * A gzipped tar of the folder, packed while it is read: one file in memory at a time, in path order, with no times or
 * owners, so that the same files give the same bytes. A file that vanishes meanwhile fails the stream with INTAKE_001.
 */
export async function packFolder(path: string, options: PackOptions): Promise<Packed> {
  const { signal } = options
  const { files, skipped, hasTrackedIgnored } = await listFolder(path, options).catch((error: unknown) => {
    signal.throwIfAborted()
    throw asAppError(error, 'INTAKE_001')
  })
  const include: SkipKind[] = hasTrackedIgnored ? ['ignored'] : []
  return { stream: gzippedTar(path, files, signal), files: files.length, skipped, include }
}

const archiveName = /\.(?:tar|tgz|zip|gz|bz2|xz|zst|lz4?|7z|rar|bundle|Z)$/i

async function passArchive(path: string, { signal }: PackOptions): Promise<Packed> {
  const start = await readStart(path)
  if (sniffArchive(start) === undefined) {
    const alone = archiveName.test(path) ? '' : `; for one file, name its folder and --paths ${basename(path)}`
    throw new AppError('INTAKE_001', `${path} ${describeForeign(start)}${alone}`)
  }
  return { stream: createReadStreamLazily(path, signal), files: null, skipped: [], include: [] }
}

async function* createReadStreamLazily(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { signal })
}

async function readStart(path: string): Promise<Uint8Array> {
  try {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sniffBytes), 0, sniffBytes, 0)
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    throw new AppError('INTAKE_001', `${path} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

async function* gzippedTar(
  root: string,
  files: readonly ListedFile[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { readable, controller } = createTarPacker()
  const gzip = createGzip({ level: 1 })
  const writing = writeEntries(root, files, controller, signal).catch((error: unknown) => controller.error(error))
  // A failure of the packing destroys the gzip stream, and is thrown where that is read.
  const zipping = pipeline(readable, gzip, { signal }).catch(() => {})
  try {
    yield* gzip
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    gzip.destroy()
    await Promise.all([writing, zipping])
  }
}

type TarController = ReturnType<typeof createTarPacker>['controller']

async function writeEntries(
  root: string,
  files: readonly ListedFile[],
  controller: TarController,
  signal: AbortSignal,
): Promise<void> {
  const common = { mtime: new Date(0), uid: 0, gid: 0 }
  for (const file of files) {
    signal.throwIfAborted()
    if (file.kind === 'link') {
      const header = { ...common, name: file.path, type: 'symlink', linkname: file.target, size: 0 } as const
      await controller.add(header).close()
      continue
    }
    const content = await readContent(root, file.path)
    const mode = file.executable ? 0o755 : 0o644
    const writer = controller.add({ ...common, name: file.path, type: 'file', mode, size: content.length }).getWriter()
    if (content.length > 0) await writer.write(content)
    await writer.close()
  }
  controller.finalize()
}

async function readContent(root: string, path: string): Promise<Uint8Array> {
  try {
    return await readFile(join(root, path))
  } catch (error) {
    throw new AppError('INTAKE_001', `${path} changed while it was packed: ${messageOf(error)}`, { cause: error })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
