import { Entry, fromRandomAccessReader, type LocalFileHeader, RandomAccessReader, type ZipFile } from 'yauzl'
import { AppError, asAppError } from '#domain/error.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import type { ArchiveSource } from './archive-source.ts'

export type ZipReader = {
  entryCount: number
  /** Yields the entries in the order of the directory, once. */
  entries(): AsyncIterable<Entry>
  /** Tells where the last read ended: after the last entry, the end of the directory's entries. */
  readTo(): number
  /** The record before the content of an entry that the directory places at `at`. */
  localHeader(at: number, packedBytes: number): Promise<LocalFileHeader>
}

export async function openZipReader(blocks: ZipBlocks): Promise<ZipReader> {
  let readTo = 0
  const fill = async (buffer: Buffer, offset: number, start: number, end: number): Promise<Error | null> => {
    try {
      buffer.set(await blocks.read(start, end), offset)
      return null
    } catch (error) {
      return asAppError(error, 'INTAKE_001')
    }
  }
  class BlockAccess extends RandomAccessReader {
    override read(...[buffer, offset, length, position, callback]: ReadArguments): void {
      readTo = position + length
      void fill(buffer, offset, position, readTo).then((fault) => answer(this, callback, fault))
    }
  }
  const zip = await openZip(new BlockAccess(), blocks.bytes)
  return {
    entryCount: zip.entryCount,
    entries: () => zip.eachEntry(),
    readTo: () => readTo,
    localHeader: (at, packedBytes) =>
      zip.readLocalFileHeaderPromise(
        Object.assign(new Entry(), { relativeOffsetOfLocalHeader: at, compressedSize: packedBytes }),
      ),
  }
}

type ReadArguments = Parameters<RandomAccessReader['read']>

/** Catches what the library throws in its own callback, which would end the process; it listens for errors of its reader. */
function answer(reader: RandomAccessReader, callback: ReadArguments[4], fault: Error | null): void {
  try {
    callback(fault)
  } catch (error) {
    reader.emit('error', error)
  }
}

/** Names stay bytes, which are decoded and checked as those of a tar. The library would refuse a folder with a size. */
function openZip(reader: RandomAccessReader, bytes: number): Promise<ZipFile> {
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false, validateEntrySizes: false }
  return new Promise((resolve, reject) => {
    reader.once('error', reject)
    fromRandomAccessReader(reader, bytes, options, (error, zip) => (error === null ? resolve(zip) : reject(error)))
  })
}

const blockBytes = 1024 * 1024
/** The directory and the contents are read in turns; each needs its current block and the next. */
const cachedBlocks = 4

export type ZipBlocks = ReturnType<typeof openZipBlocks>

/** An archive that is read at any place, in blocks: a sequential read fetches each block once. */
export function openZipBlocks({ bytes, range }: Pick<ArchiveSource, 'bytes' | 'range'>) {
  const cache = openCachedAnswers<Uint8Array>({ max: cachedBlocks })
  const blockAt = (start: number): Promise<Uint8Array> =>
    cache.get(String(start), () => range({ start, end: Math.min(start + blockBytes, bytes) }))
  /** Yields one block at a time. INTAKE_001 when the archive ends before `end`. */
  async function* stream(start: number, end: number): AsyncGenerator<Uint8Array> {
    if (end > bytes) throw new AppError('INTAKE_001', 'the zip is cut short, or points beyond its own end')
    for (let at = start; at < end;) {
      const blockStart = at - (at % blockBytes)
      const block = await blockAt(blockStart)
      yield block.subarray(at - blockStart, end - blockStart)
      at = blockStart + blockBytes
    }
  }
  const read = async (start: number, end: number) => Buffer.concat(await Array.fromAsync(stream(start, end)))
  return { bytes, stream, read }
}
