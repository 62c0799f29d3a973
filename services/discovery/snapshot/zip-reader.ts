import { Entry, fromRandomAccessReader, type LocalFileHeader, RandomAccessReader, type ZipFile } from 'yauzl'
import { asAppError } from '#domain/error.ts'
import type { ZipBlocks } from './zip-blocks.ts'

/** yauzl over blocks: it knows the records of a zip, and reads nothing but them. */
export type ZipReader = {
  /** How many entries the directory says it has. */
  entryCount: number
  /** In the order of the directory; once. */
  entries(): AsyncIterable<Entry>
  /** Where the last read ended: after the last entry, the end of the directory's entries. */
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

/** What the library throws in its own callback would end the process; it listens for errors of its reader. */
function answer(reader: RandomAccessReader, callback: ReadArguments[4], fault: Error | null): void {
  try {
    callback(fault)
  } catch (error) {
    reader.emit('error', error)
  }
}

/** Names are left as bytes: what they mean, and what is safe, is decided as for a tar. */
function openZip(reader: RandomAccessReader, bytes: number): Promise<ZipFile> {
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false }
  return new Promise((resolve, reject) => {
    reader.once('error', reject)
    fromRandomAccessReader(reader, bytes, options, (error, zip) => (error === null ? resolve(zip) : reject(error)))
  })
}
