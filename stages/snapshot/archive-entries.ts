import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { describeForeign, sniffArchive, sniffBytes } from '#domain/archive-format.ts'
import { AppError } from '#domain/error.ts'
import { type ArchiveEntry, type ArchiveSource, isExecutable, unreadable } from './archive-source.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'
import { zipEntries } from './zip-entries.ts'
import { unpackedBytes } from './unpacked-bytes.ts'

/** Reads a tar as a stream and a zip in ranges; the first bytes tell which. INTAKE_001 for one that is damaged, INTAKE_003 over a limit. */
export async function* archiveEntries(
  source: ArchiveSource,
  limits: SnapshotLimits,
  signal: AbortSignal,
): AsyncGenerator<ArchiveEntry> {
  const length = Math.min(sniffBytes, source.bytes)
  const first = length === 0 ? new Uint8Array() : await source.range({ start: 0, end: length })
  const format = sniffArchive(first)
  if (format === undefined) throw new AppError('INTAKE_001', `the upload ${describeForeign(first)}`)
  try {
    if (format === 'zip') yield* zipEntries(source, limits, signal)
    else yield* tarEntries(source.stream(), { isGzipped: format === 'tar.gz' }, limits, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw unreadable(error)
  }
}

async function* tarEntries(
  archive: AsyncIterable<Uint8Array>,
  { isGzipped }: { isGzipped: boolean },
  limits: SnapshotLimits,
  signal: AbortSignal,
): AsyncGenerator<ArchiveEntry> {
  const left = new AbortController()
  const ended = AbortSignal.any([signal, left.signal])
  try {
    const bytes = ReadableStream.from(unpackedBytes(archive, { isGzipped }, limits))
    for await (const entry of bytes.pipeThrough(createTarDecoder({ strict: true }), { signal: ended })) {
      let taken = false
      const read = () => {
        taken = true
        return readBody(entry)
      }
      yield { ...describe(entry), read }
      if (!taken) await entry.body.cancel()
    }
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
    executable: isExecutable(header.mode ?? 0),
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
