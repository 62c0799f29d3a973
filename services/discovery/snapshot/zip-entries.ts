import { AppError } from '#domain/error.ts'
import type { ArchiveEntry } from './archive-entry.ts'
import type { ArchiveSource } from './archive-source.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'
import { openZipBlocks } from './zip-blocks.ts'
import { contentStart, readContent } from './zip-content.ts'
import { readZipDirectory } from './zip-directory.ts'
import { shown } from './zip-entry.ts'
import { openZipReader } from './zip-reader.ts'

/**
 * The entries of a zip in the order of their contents, which is how they are read: a few blocks and one content in
 * memory at a time. The directory is judged as a whole before the first one.
 */
export async function* zipEntries(
  source: ArchiveSource,
  limits: SnapshotLimits,
  signal: AbortSignal,
): AsyncGenerator<ArchiveEntry> {
  const blocks = openZipBlocks(source)
  const reader = await openZipReader(blocks)
  for (const entry of await readZipDirectory(blocks, reader, limits)) {
    signal.throwIfAborted()
    const start = await contentStart(entry, reader)
    const read = () => readContent(entry, start, blocks)
    const { type, name, executable } = entry
    const isLink = type === 'symlink'
    if (isLink && entry.size > limits.maxPathBytes) {
      throw new AppError('INTAKE_002', `${shown(name)} is a link to a path of ${entry.size} bytes`)
    }
    const target = isLink ? Buffer.from(await read()).toString() : ''
    yield { type, name, size: type === 'file' ? entry.size : 0, executable, target, read }
  }
}
