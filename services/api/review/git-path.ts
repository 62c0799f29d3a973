const escapes: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
}

/** A path as git writes it in a patch: as it is, or in C-style quotes when it holds a byte outside printable ASCII. */
export function gitPath(path: string): string {
  const bytes = Buffer.from(path)
  if (bytes.every((byte) => byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c)) return path
  const quoted = Array.from(bytes, (byte) => escapes[byte] ?? (isPlain(byte) ? String.fromCharCode(byte) : octal(byte)))
  return `"${quoted.join('')}"`
}

function isPlain(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`
}
