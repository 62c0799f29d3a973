export type ArchiveFormat = 'tar' | 'tar.gz' | 'zip'

/** `sniffArchive` wants to see so many first bytes of an archive. */
export const sniffBytes = 512

const checksumAt = 148
const checksumEnd = 156

/** A zip begins with its first entry, or with the end of its directory when it is empty (`PK\6\6` in zip64). */
const zipStarts = ['PK\x03\x04', 'PK\x05\x06', 'PK\x06\x06']

/** Detects the format from the first 512 bytes. Whether a gzip holds a tar is only known once it is read. */
export function sniffArchive(first: Uint8Array): ArchiveFormat | undefined {
  if (first[0] === 0x1f && first[1] === 0x8b) return 'tar.gz'
  if (zipStarts.includes(Buffer.from(first.subarray(0, 4)).toString('latin1'))) return 'zip'
  if (first.length < sniffBytes) return undefined
  const header = first.subarray(0, sniffBytes)
  if (Buffer.from(header.subarray(257, 262)).toString('latin1') === 'ustar') return 'tar'
  // Archives from before POSIX have no magic, but the header's checksum; one of nothing but zeros is an empty archive.
  return header.every((byte) => byte === 0) || hasTarChecksum(header) ? 'tar' : undefined
}

function hasTarChecksum(header: Uint8Array): boolean {
  const stored = Buffer.from(header.subarray(checksumAt, checksumEnd)).toString('latin1')
  const octal = /^ *([0-7]+)[ \0]*$/.exec(stored)?.[1]
  if (octal === undefined) return false
  const sum = header.reduce((total, byte, at) => total + (at >= checksumAt && at < checksumEnd ? 0x20 : byte), 0)
  return Number.parseInt(octal, 8) === sum
}

type Foreign = { name: string; start: string; advice?: string }

const kinds = 'a .tar, .tar.gz, .tgz or .zip'
const sendInstead = `send ${kinds} instead`
const sendFromGit = 'send what `git archive --format=tar.gz -o x.tar.gz HEAD` writes instead'

const foreign: readonly Foreign[] = [
  { name: 'a bzip2 file', start: 'BZh' },
  { name: 'an xz file', start: '\xfd7zXZ\0' },
  { name: 'a Zstandard file', start: '\x28\xb5\x2f\xfd' },
  { name: 'an lz4 file', start: '\x04\x22\x4d\x18' },
  { name: 'an lzip file', start: 'LZIP' },
  { name: 'a file of the old compress program', start: '\x1f\x9d' },
  { name: 'a 7z archive', start: '7z\xbc\xaf\x27\x1c' },
  { name: 'a RAR archive', start: 'Rar!\x1a\x07' },
  { name: 'part of a split zip', start: 'PK\x07\x08', advice: 'send one zip in one piece' },
  { name: 'a git bundle', start: '# v2 git bundle\n', advice: sendFromGit },
  { name: 'a git bundle', start: '# v3 git bundle\n', advice: sendFromGit },
]

/** Says why such an archive is refused, and what to send instead: the end of a sentence that begins with its name. */
export function describeForeign(first: Uint8Array): string {
  const text = Buffer.from(first.subarray(0, 32)).toString('latin1')
  const known = foreign.find(({ start }) => text.startsWith(start))
  if (known === undefined) return `is no archive that can be read: ${sendInstead}`
  return `is ${known.name}: ${known.advice ?? sendInstead}`
}
