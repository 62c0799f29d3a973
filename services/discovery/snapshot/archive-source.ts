import { AppError } from '#domain/error.ts'
import type { ByteRange, ObjectStore } from '#objects/object-store.ts'

/** An uploaded archive, to be read from its start or at any place. */
export type ArchiveSource = {
  bytes: number
  stream(): AsyncIterable<Uint8Array>
  /** STORE_002 when the store does not answer with just these bytes. */
  range(range: ByteRange): Promise<Uint8Array>
}

/** Asks how large the upload is; STORE_003 when it is not there. */
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
