type Foreign = { name: string; start: string; advice?: string }

const kinds = 'a .tar, .tar.gz, .tgz or .zip'
const sendInstead = `send ${kinds} instead`
const sendFromGit = 'send what `git archive --format=tar.gz -o x.tar.gz HEAD` writes instead'

/** Archives that we know but do not read, by their first bytes (one character each). */
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

/**
 * Why something that `sniffArchive` does not know is refused, and what to send instead: the rest of a sentence that
 * begins with its name.
 */
export function describeForeign(first: Uint8Array): string {
  const text = Buffer.from(first.subarray(0, 32)).toString('latin1')
  const known = foreign.find(({ start }) => text.startsWith(start))
  if (known === undefined) return `is no archive that can be read: ${sendInstead}`
  return `is ${known.name}: ${known.advice ?? sendInstead}`
}
