import { AppError } from '#domain/error.ts'
import { openByteCache } from '#objects/byte-cache.ts'
import type { ArchiveSource } from './archive-source.ts'

const blockBytes = 1024 * 1024
/** The directory and the contents are read in turns; each wants the block it is in, and the next. */
const cachedBlocks = 4

/** An archive at any place, asked for in blocks: what is read in order is asked for once. */
export type ZipBlocks = {
  bytes: number
  /** A copy of what is there. INTAKE_001 when the archive ends before `end`. */
  read(start: number, end: number): Promise<Uint8Array>
  /** The same a block at a time. */
  stream(start: number, end: number): AsyncGenerator<Uint8Array>
}

export function openZipBlocks({ bytes, range }: Pick<ArchiveSource, 'bytes' | 'range'>): ZipBlocks {
  const cache = openByteCache(cachedBlocks * blockBytes)
  const blockAt = async (start: number): Promise<Uint8Array> => {
    const known = cache.get(String(start))
    if (known !== undefined) return known
    const block = await range({ start, end: Math.min(start + blockBytes, bytes) })
    cache.set(String(start), block)
    return block
  }
  async function* stream(start: number, end: number): AsyncGenerator<Uint8Array> {
    if (end > bytes) throw new AppError('INTAKE_001', 'the zip is cut short, or points behind its own end')
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
