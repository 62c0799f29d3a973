import { sniffArchive, sniffBytes } from '#domain/archive-magic.ts'
import { AppError } from '#domain/error.ts'
import { describeForeign } from '#domain/foreign-archive.ts'
import { unreadable, type ArchiveEntry } from './archive-entry.ts'
import type { ArchiveSource } from './archive-source.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'
import { tarEntries } from './tar-entries.ts'
import { zipEntries } from './zip-entries.ts'

/**
 * The entries of a tar, a gzipped tar or a zip, whichever its first bytes say it is. A tar streams in and gives them in
 * its order; a zip is read in ranges, and gives them in the order of their contents. INTAKE_001 for whatever is damaged,
 * truncated or no such archive, INTAKE_003 over a limit; errors of the source pass through. Leaving the loop ends the
 * reading.
 */
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
