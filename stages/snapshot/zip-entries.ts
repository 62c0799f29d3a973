import { crc32, createInflateRaw } from 'node:zlib'
import type { LocalFileHeader } from 'yauzl'
import { AppError, asAppError } from '#domain/error.ts'
import type { ArchiveEntry, ArchiveSource } from './archive-source.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'
import { encryptedFlags, type PlacedEntry, readZipDirectory, shown, zipMethods } from './zip-directory.ts'
import { openZipBlocks, openZipReader, type ZipBlocks, type ZipReader } from './zip-reader.ts'
import { throughStream } from './unpacked-bytes.ts'

/** Yields the entries in the order of their contents, a few blocks and one content in memory at a time. The directory is checked first. */
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
    yield { type, name, size: isLink ? 0 : entry.size, executable, target, read }
  }
}

/** Sizes and CRC follow the content; in the record before it they may be 0. */
const writtenAfter = 0x08
/** A size that is stored in another field. */
const inZip64 = 0xffffffff

/** INTAKE_001 when the record contradicts the directory, or overlaps the next entry: a few bytes would stand for many files. */
async function contentStart(entry: PlacedEntry, reader: ZipReader): Promise<number> {
  const header = await reader.localHeader(entry.at, entry.packedBytes)
  const fault = disagreement(entry, header)
  if (fault !== undefined)
    throw new AppError('INTAKE_001', `${shown(entry.name)}: the zip contradicts itself about ${fault}`)
  if (header.fileDataStart + entry.packedBytes > entry.end) {
    throw new AppError('INTAKE_001', `${shown(entry.name)} shares bytes with another entry of the zip`)
  }
  return header.fileDataStart
}

function disagreement(entry: PlacedEntry, header: LocalFileHeader): string | undefined {
  const { generalPurposeBitFlag: flags } = header
  if (header.fileName.toString() !== entry.name) return 'its name'
  if (header.compressionMethod !== entry.method) return 'how it is packed'
  if ((flags & encryptedFlags) !== 0) return 'its encryption'
  const differs = (left: number, right: number) =>
    left !== right && left !== inZip64 && !((flags & writtenAfter) !== 0 && left === 0)
  if (differs(header.compressedSize, entry.packedBytes)) return 'its packed size'
  if (entry.type !== 'directory' && differs(header.uncompressedSize, entry.size)) return 'its size'
  if (differs(header.crc32, entry.crc32)) return 'its CRC-32'
  return undefined
}

/** INTAKE_001 when the size or CRC-32 is not the one in the zip. */
async function readContent(entry: PlacedEntry, start: number, blocks: ZipBlocks): Promise<Uint8Array> {
  const content = new Uint8Array(entry.size)
  let at = 0
  try {
    for await (const chunk of plainBytes(entry, start, blocks)) {
      if (at + chunk.length > content.length) throw damaged(entry, 'is longer than the zip says')
      content.set(chunk, at)
      at += chunk.length
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw damaged(entry, `cannot be unpacked: ${asAppError(error, 'INTAKE_001').message}`)
  }
  if (at !== content.length) throw damaged(entry, 'is shorter than the zip says')
  if (crc32(content) !== entry.crc32) throw damaged(entry, 'is damaged: its CRC-32 is not what the zip says')
  return content
}

async function* plainBytes(entry: PlacedEntry, start: number, blocks: ZipBlocks): AsyncGenerator<Uint8Array> {
  const packed = blocks.stream(start, start + entry.packedBytes)
  if (entry.method === zipMethods.stored) return yield* packed
  const inflate = createInflateRaw()
  yield* throughStream(packed, inflate)
  if (inflate.bytesWritten !== entry.packedBytes) throw damaged(entry, 'ends before its packed content does')
}

function damaged(entry: PlacedEntry, what: string): AppError {
  return new AppError('INTAKE_001', `${shown(entry.name)} ${what}`)
}
