import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { AppError, asAppError } from '#domain/error.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'
import { unpackedBytes } from './unpacked-bytes.ts'

export type EntryType = NonNullable<ParsedTarEntry['header']['type']>

/** One entry as the archive has it: nothing about its name or target has been checked. */
export type ArchiveEntry = {
  type: EntryType
  name: string
  /** Of the content; 0 for everything but files. */
  size: number
  executable: boolean
  /** Where a link leads; '' for what is no link. */
  target: string
  /** The whole content. To be called before the next entry is asked for, or not at all. */
  read(): Promise<Uint8Array>
}

const ownerMayExecute = 0o100

/**
 * The entries of a tar or gzipped tar, in its order, while it streams in. INTAKE_001 for whatever is damaged, truncated
 * or no such archive; errors of `archive` itself pass through. Leaving the loop ends the reading.
 */
export async function* archiveEntries(
  archive: AsyncIterable<Uint8Array>,
  limits: SnapshotLimits,
  signal: AbortSignal,
): AsyncGenerator<ArchiveEntry> {
  const left = new AbortController()
  const ended = AbortSignal.any([signal, left.signal])
  try {
    const bytes = ReadableStream.from(unpackedBytes(archive, limits))
    for await (const entry of bytes.pipeThrough(createTarDecoder({ strict: true }), { signal: ended })) {
      let taken = false
      const read = () => {
        taken = true
        return readBody(entry)
      }
      yield { ...describe(entry), read }
      if (!taken) await entry.body.cancel()
    }
  } catch (error) {
    signal.throwIfAborted()
    throw unreadable(error)
  } finally {
    left.abort()
  }
}

function describe({ header }: ParsedTarEntry): Omit<ArchiveEntry, 'read'> {
  if (Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse.'))) {
    throw new AppError('INTAKE_001', `${header.name} is stored as a sparse file: pack it without --sparse`)
  }
  return {
    type: header.type ?? 'file',
    name: header.name,
    size: header.size,
    executable: ((header.mode ?? 0) & ownerMayExecute) !== 0,
    target: header.linkname ?? '',
  }
}

async function readBody({ header, body }: ParsedTarEntry): Promise<Uint8Array> {
  const content = new Uint8Array(header.size)
  let at = 0
  try {
    for await (const chunk of body) {
      content.set(chunk, at)
      at += chunk.length
    }
  } catch (error) {
    throw unreadable(error)
  }
  if (at !== header.size) throw new AppError('INTAKE_001', `the archive ends within ${header.name}`)
  return content
}

function unreadable(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { message } = asAppError(error, 'INTAKE_001')
  return new AppError('INTAKE_001', `the archive cannot be read: ${message}`, { cause: error })
}
