import type { ParsedTarEntry } from 'modern-tar'
import { AppError, asAppError } from '#domain/error.ts'
import type { ByteRange, ObjectStore } from '#store/objects/object-store.ts'

export type ArchiveSource = {
  bytes: number
  stream(): AsyncIterable<Uint8Array>
  /** STORE_002 when the store does not answer with just these bytes. */
  range(range: ByteRange): Promise<Uint8Array>
}

/** STORE_003 when the upload is missing. */
export async function openSource(
  objects: Pick<ObjectStore, 'stat' | 'getRange' | 'getStream'>,
  key: string,
  signal: AbortSignal,
): Promise<ArchiveSource> {
  const entry = await objects.stat(key)
  if (entry === undefined) throw new AppError('STORE_003', `object ${key} is missing`)
  return {
    bytes: entry.bytes,
    stream: () => objects.getStream(key, signal),
    async range(range) {
      signal.throwIfAborted()
      return objects.getRange(key, range)
    },
  }
}

export type EntryType = NonNullable<ParsedTarEntry['header']['type']>

/** One entry as the archive holds it: its name and target are not checked yet. */
export type ArchiveEntry = {
  type: EntryType
  name: string
  /** Counts the bytes of the content; 0 for everything but files. */
  size: number
  executable: boolean
  /** The target of a link; '' for other entries. */
  target: string
  /** The whole content. Must be called before the next entry is requested, if at all. */
  read(): Promise<Uint8Array>
}

const ownerMayExecute = 0o100

export function isExecutable(mode: number): boolean {
  return (mode & ownerMayExecute) !== 0
}

/** A library's error about a damaged archive, as INTAKE_001. An AppError, such as the store's, stays as it is. */
export function unreadable(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { message } = asAppError(error, 'INTAKE_001')
  return new AppError('INTAKE_001', `the archive cannot be read: ${message}`, { cause: error })
}
