export type ArchiveFormat = 'tar' | 'tar.gz' | 'zip'

/** How many first bytes of an archive `sniffArchive` wants to see. */
export const sniffBytes = 512

const checksumAt = 148
const checksumEnd = 156

/** What a zip begins with: its first entry, or the end of its directory when it holds none (`PK\6\6` in zip64). */
const zipStarts = ['PK\x03\x04', 'PK\x05\x06', 'PK\x06\x06']

/**
 * What an archive's first 512 bytes say it is; fewer will do for gzip and zip. Undefined for anything else. Whether a
 * gzip holds a tar shows only when it is read.
 */
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
