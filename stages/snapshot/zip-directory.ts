import type { Entry } from 'yauzl'
import { AppError } from '#domain/error.ts'
import { type SnapshotLimits, tooMany } from './snapshot-limits.ts'
import { refuseBomb } from './unpacked-bytes.ts'
import type { ZipBlocks, ZipReader } from './zip-reader.ts'
import { type EntryType, isExecutable } from './archive-source.ts'

/** `end` is where the next entry or the directory begins: the entry's record and content must end before it. */
export type PlacedEntry = ZipEntry & { end: number }

const recordBytes = 46
const entryMark = 'PK\x01\x02'
const contentMark = 'PK\x03\x04'

/** Returns the entries in the order of their contents. INTAKE_003 over a limit, INTAKE_001 for an inconsistent directory. */
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
    directoryBytes += recordBytes + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength
    const placed = zipEntryOf(entry)
    unpacked += placed.size
    refuseBomb({ packed: blocks.bytes, unpacked }, limits)
    entries.push(placed)
  }
  await refuseUncounted(blocks, reader)
  const directoryStart = reader.readTo() - directoryBytes
  const ordered = entries.toSorted((left, right) => left.at - right.at)
  return ordered.map((entry, at) => ({ ...entry, end: ordered[at + 1]?.at ?? directoryStart }))
}

/** Some programs count only to 65,535 and start again from 0; entries that are not counted would be lost silently. */
async function refuseUncounted(blocks: ZipBlocks, reader: ZipReader): Promise<void> {
  const [at, mark] = reader.entryCount === 0 ? [0, contentMark] : [reader.readTo(), entryMark]
  const next = await blocks.read(at, Math.min(at + mark.length, blocks.bytes))
  if (Buffer.from(next).toString('latin1') !== mark) return
  throw new AppError('INTAKE_001', `the zip holds more entries than it counts (${reader.entryCount}): pack it anew`)
}

type ZipEntry = ReturnType<typeof zipEntryOf>

export const zipMethods = { stored: 0, deflated: 8 } as const
type ZipMethod = (typeof zipMethods)[keyof typeof zipMethods]

/** The methods that a user may have chosen; for others the number is enough. */
const otherMethods: Readonly<Record<number, string>> = {
  9: 'Deflate64',
  12: 'bzip2',
  14: 'LZMA',
  93: 'Zstandard',
  95: 'xz',
  98: 'PPMd',
}

/** Bits of an entry's flags: encrypted in one way or another. */
export const encryptedFlags = 0x2041

/** INTAKE_001 for an entry that is encrypted, packed by another method, or contradicts itself. The size of a folder says nothing. */
function zipEntryOf(entry: Entry) {
  const name = entry.fileNameRaw.toString()
  const { type, executable } = describeMode(entry, name)
  if ((entry.generalPurposeBitFlag & encryptedFlags) !== 0) {
    throw new AppError('INTAKE_001', `${shown(name)} is encrypted: pack the zip without a password`)
  }
  return {
    type,
    name,
    executable,
    method: knownMethod(entry.compressionMethod, name),
    crc32: entry.crc32,
    size: type === 'directory' ? 0 : entry.uncompressedSize,
    packedBytes: entry.compressedSize,
    /** Its own record begins here, which its packed content follows. */
    at: entry.relativeOffsetOfLocalHeader,
  }
}

export function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200))
}

function knownMethod(method: number, name: string): ZipMethod {
  const known = Object.values(zipMethods).find((value) => value === method)
  if (known !== undefined) return known
  const called = otherMethods[method] ?? `method ${method}`
  throw new AppError('INTAKE_001', `${shown(name)} is packed by ${called}: pack the zip by Deflate, or send a .tar.gz`)
}

/** Systems that keep a Unix mode in the upper half of an entry's attributes: Unix and macOS. */
const unixSystems = new Set([3, 19])
const typeMask = 0o170000
const typeByMode: Readonly<Record<number, EntryType>> = {
  0o010000: 'fifo',
  0o020000: 'character-device',
  0o040000: 'directory',
  0o060000: 'block-device',
  0o100000: 'file',
  0o120000: 'symlink',
  0o140000: 'fifo', // a socket, which is as little a file
}

function describeMode(entry: Entry, name: string): { type: EntryType; executable: boolean } {
  const isFolder = name.endsWith('/')
  const mode = unixSystems.has(entry.versionMadeBy >>> 8) ? entry.externalFileAttributes >>> 16 : 0
  const typeOfMode = typeByMode[mode & typeMask] ?? 'file'
  const type = isFolder && typeOfMode === 'file' ? 'directory' : typeOfMode
  if (isFolder && type !== 'directory') {
    throw new AppError('INTAKE_001', `${shown(name)} has the name of a folder and the mode of a ${type}`)
  }
  return { type, executable: type === 'file' && isExecutable(mode) }
}
