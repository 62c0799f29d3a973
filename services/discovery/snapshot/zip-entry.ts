import type { Entry } from 'yauzl'
import { AppError } from '#domain/error.ts'
import { isExecutable, type EntryType } from './archive-entry.ts'

/** An entry as the directory of a zip has it. */
export type ZipEntry = {
  type: EntryType
  name: string
  executable: boolean
  method: ZipMethod
  crc32: number
  /** Of the content. */
  size: number
  packedBytes: number
  /** Where its own record begins, which its packed content follows. */
  at: number
}

export const zipMethods = { stored: 0, deflated: 8 } as const
export type ZipMethod = (typeof zipMethods)[keyof typeof zipMethods]

/** Those a user may have chosen; the number says enough of the others. */
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

/** Throws INTAKE_001 for what is encrypted, packed by a method we do not read, or contradicts itself. */
export function zipEntryOf(entry: Entry): ZipEntry {
  const name = entry.fileNameRaw.toString()
  const { type, executable } = describeMode(entry, name)
  if ((entry.generalPurposeBitFlag & encryptedFlags) !== 0) {
    throw new AppError('INTAKE_001', `${shown(name)} is encrypted: pack the zip without a password`)
  }
  if (type === 'directory' && entry.uncompressedSize > 0) {
    throw new AppError('INTAKE_001', `${shown(name)} is a folder with content`)
  }
  return {
    type,
    name,
    executable,
    method: knownMethod(entry.compressionMethod, name),
    crc32: entry.crc32,
    size: entry.uncompressedSize,
    packedBytes: entry.compressedSize,
    at: entry.relativeOffsetOfLocalHeader,
  }
}

export function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200))
}

function knownMethod(method: number, name: string): ZipMethod {
  const known = Object.values(zipMethods).find((one) => one === method)
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
  const said = typeByMode[mode & typeMask] ?? 'file'
  const type = isFolder && said === 'file' ? 'directory' : said
  if (isFolder && type !== 'directory') {
    throw new AppError('INTAKE_001', `${shown(name)} has the name of a folder and the mode of a ${type}`)
  }
  return { type, executable: type === 'file' && isExecutable(mode) }
}
