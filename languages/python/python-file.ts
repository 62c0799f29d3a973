/** Matches the first two lines, where Python looks for an encoding declaration (language reference, 2.1.4). */
const leadingLines = /^\uFEFF?([^\r\n]*)(?:\r\n|\r|\n)?([^\r\n]*)/
const declaration = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/
const blankOrComment = /^[ \t\f]*(?:#.*)?$/

/** Returns the encoding that a source declares, in lower case, with `-` for `_`. */
export function declaredEncoding(source: string): string | undefined {
  const [, first = '', second = ''] = leadingLines.exec(source) ?? []
  const declared = declaration.exec(first) ?? (blankOrComment.test(first) ? declaration.exec(second) : null)
  return declared?.[1]?.toLowerCase().replaceAll('_', '-')
}

/** Returns the same; undefined for UTF-8. */
export function foreignEncoding(source: string): string | undefined {
  const name = declaredEncoding(source)
  return name === undefined || /^utf-?8(-|$)/.test(name) ? undefined : name
}

/** Matches encodings in which every ASCII character is itself; what stands in a comment of another one, such as UTF-7, may be code. */
const asciiSupersets =
  /^(?:(?:us-)?ascii|latin|l[1-9]$|iso-?8859|cp(?:437|72|73|77|8[56]|9[345]|1006|125)|windows-|koi8|mac|ptcp154|tis-?620|euc|u?jis|shift-?jis|s-?jis|gbk?|big5|ms\d)/

/** Is true when a source declares an encoding in which its characters are not those that a reader of UTF-8 sees, ASCII included. */
export function isEncodedOtherwise(source: string): boolean {
  const name = foreignEncoding(source)
  return name !== undefined && !asciiSupersets.test(name)
}

/** Counts the characters that Python misreads: those beyond ASCII in a source that declares another encoding than UTF-8. */
export function misencodedCharacters(source: string): number {
  return foreignEncoding(source) === undefined ? 0 : source.replaceAll(/[\0-\x7F]/g, '').length
}

/** Tells stubs, which are not linted, since what judges fixes does not know their rules, and get no docstrings. */
export function isStub(path: string): boolean {
  return path.toLowerCase().endsWith('.pyi')
}

/** Returns the bytes before a UTF-16 index of `text`, counted once: a file may have tens of thousands of faults. */
export function byteOffsets(text: string): (index: number) => number {
  if (Buffer.byteLength(text) === text.length) return (index) => index
  const offsets = new Uint32Array(text.length + 1)
  let bytes = 0
  for (let index = 0; index < text.length; index++) {
    offsets[index] = bytes
    bytes += bytesOf(text.charCodeAt(index))
  }
  offsets[text.length] = bytes
  return (index) => offsets[index] ?? bytes
}

/** Counts bytes of UTF-8; each half of a surrogate pair counts for two of its four bytes. */
function bytesOf(unit: number): number {
  if (unit < 0x80) return 1
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
}
