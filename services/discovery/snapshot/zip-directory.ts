import type { Entry } from 'yauzl'
import { AppError } from '#domain/error.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'
import { refuseBomb } from './unpacked-bytes.ts'
import type { ZipBlocks } from './zip-blocks.ts'
import { type ZipEntry, zipEntryOf } from './zip-entry.ts'
import type { ZipReader } from './zip-reader.ts'

/** `end` is where what follows an entry begins: its record and content have to end before. */
export type PlacedEntry = ZipEntry & { end: number }

const recordBytes = 46
const entryMark = 'PK\x01\x02'
const contentMark = 'PK\x03\x04'

/**
 * All entries in the order of their contents. What the directory claims is judged here, before anything is unpacked:
 * INTAKE_003 over a limit, INTAKE_001 when it does not add up.
 */
export async function readZipDirectory(
  blocks: ZipBlocks,
  reader: ZipReader,
  limits: SnapshotLimits,
): Promise<PlacedEntry[]> {
  if (reader.entryCount > limits.maxEntries) throw tooMany('entries', limits.maxEntries)
  const entries: ZipEntry[] = []
  let directoryBytes = 0
  let nameBytes = 0
  let unpacked = 0
  for await (const entry of reader.entries()) {
    nameBytes += entry.fileNameLength
    if (nameBytes > limits.maxNameBytes) throw tooMany('bytes of paths', limits.maxNameBytes)
    unpacked += entry.uncompressedSize
    refuseBomb({ packed: blocks.bytes, unpacked }, limits)
    directoryBytes += recordLength(entry)
    entries.push(zipEntryOf(entry))
  }
  await refuseUncounted(blocks, reader)
  return placed(entries, reader.readTo() - directoryBytes)
}

function recordLength({ fileNameLength, extraFieldLength, fileCommentLength }: Entry): number {
  return recordBytes + fileNameLength + extraFieldLength + fileCommentLength
}

/** Some programs count only to 65,535 and begin again; what is not counted would be lost without a word. */
async function refuseUncounted(blocks: ZipBlocks, reader: ZipReader): Promise<void> {
  const [at, mark] = reader.entryCount === 0 ? [0, contentMark] : [reader.readTo(), entryMark]
  const next = await blocks.read(at, Math.min(at + mark.length, blocks.bytes))
  if (Buffer.from(next).toString('latin1') !== mark) return
  throw new AppError('INTAKE_001', `the zip holds more entries than it counts (${reader.entryCount}): pack it anew`)
}

function placed(entries: readonly ZipEntry[], directoryStart: number): PlacedEntry[] {
  const ordered = entries.toSorted((one, other) => one.at - other.at)
  return ordered.map((entry, at) => ({ ...entry, end: ordered[at + 1]?.at ?? directoryStart }))
}

function tooMany(what: string, limit: number): AppError {
  return new AppError('INTAKE_003', `the archive has more than ${limit} ${what}`)
}
