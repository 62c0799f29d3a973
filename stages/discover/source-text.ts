import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { declaredEncoding } from '#languages/python/python-file.ts'

export type SourceText = {
  text: string
  /** Byte offsets of UTF-16 indices, in the order given. Indices must not split a surrogate pair. */
  byteOffsets(indices: readonly number[]): number[]
}

/** Decodes UTF-8 with its byte order mark, or else by the encoding that the file declares. */
export function readSourceText(bytes: Uint8Array): SourceText {
  const declared = isUtf8(bytes) ? undefined : readDeclaredText(bytes)
  if (declared !== undefined) return declared
  const text = bufferOf(bytes).toString('utf8')
  return { text, byteOffsets: (indices) => (text.length === bytes.length ? [...indices] : utf8Offsets(text, indices)) }
}

const latin1 = /^(?:latin-?1?|iso-?8859(?:-?1)?|iso-latin-1|iso-ir-100|l1|8859|cp819|ibm819)$/
/** Python's names of encodings that are no labels of the Encoding Standard, which `TextDecoder` follows. */
const labels: ReadonlyMap<string, string> = new Map([
  ...['cp932', 'mskanji', 'ms-kanji', 'shiftjis', 's-jis'].map((name) => [name, 'shift_jis'] as const),
  ...['eucjp', 'ujis', 'u-jis'].map((name) => [name, 'euc-jp'] as const),
  ...['euckr', 'cp949', 'ms949', 'uhc'].map((name) => [name, 'euc-kr'] as const),
  ...['cp936', 'ms936'].map((name) => [name, 'gbk'] as const),
  ...['cp950', 'ms950'].map((name) => [name, 'big5'] as const),
  ...['mac-roman', 'macroman'].map((name) => [name, 'macintosh'] as const),
  ['mac-cyrillic', 'x-mac-cyrillic'],
  ['cp874', 'windows-874'],
  ...[2, 3, 4].map((number) => [`latin-${number}`, `latin${number}`] as const),
  ...['5', '-5'].map((end) => [`latin${end}`, 'iso-8859-9'] as const),
  ...['6', '-6'].map((end) => [`latin${end}`, 'iso-8859-10'] as const),
  ...[7, 8, 9].flatMap((number) =>
    ['', '-'].map((dash) => [`latin${dash}${number}`, `iso-8859-${number + 6}`] as const),
  ),
  ...['latin10', 'latin-10'].map((name) => [name, 'iso-8859-16'] as const),
])

/**
 * The text by the encoding that one of the first two lines declares, as Python does (PEP 263). Undefined when there is no
 * such line, the encoding is none that is known here, or the bytes are not in it.
 */
export function readDeclaredText(bytes: Uint8Array): SourceText | undefined {
  const declared = declaredEncoding(bufferOf(bytes.subarray(0, 1000)).toString('latin1'))
  if (declared === undefined) return undefined
  const encoding = declared.replace(/-(?:unix|dos|mac)$/, '')
  // Not by the Encoding Standard, in which this is a name of windows-1252.
  if (latin1.test(encoding)) return { text: bufferOf(bytes).toString('latin1'), byteOffsets: (indices) => [...indices] }
  try {
    const decoder = () => new TextDecoder(labels.get(encoding) ?? encoding, { fatal: true, ignoreBOM: true })
    const { encoding: label } = decoder()
    if (label.startsWith('utf-') || (label === 'windows-1252' && !encoding.endsWith('1252'))) return undefined
    const text = decoder().decode(bytes)
    if (text.length === bytes.length) return { text, byteOffsets: (indices) => [...indices] }
    const starts = unitStarts(bytes, decoder())
    if (starts.length !== text.length + 1) return undefined
    return { text, byteOffsets: (indices) => indices.map((index) => starts[index] ?? bytes.length) }
  } catch {
    return undefined
  }
}

/** The byte at which the character of each UTF-16 unit begins, and the end of the text. */
function unitStarts(bytes: Uint8Array, decoder: TextDecoder): number[] {
  const starts: number[] = []
  let start = 0
  for (let at = 0; at < bytes.length; at++) {
    const isAscii = start === at && (bytes[at] ?? 0) < 0x80
    const units = isAscii ? 1 : decoder.decode(bytes.subarray(at, at + 1), { stream: true }).length
    for (let unit = 0; unit < units; unit++) starts.push(start)
    if (units > 0) start = at + 1
  }
  return [...starts, bytes.length]
}

/** Returns the same memory, not a copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function utf8Offsets(text: string, indices: readonly number[]): number[] {
  const known = new Map<number, number>()
  let last = 0
  let bytes = 0
  for (const index of indices.toSorted((a, b) => a - b)) {
    bytes += Buffer.byteLength(text.slice(last, index))
    last = index
    known.set(index, bytes)
  }
  return indices.map((index) => known.get(index) ?? 0)
}

/** The 1-based line of a byte offset. Lines end with a line feed; a lone carriage return or a form feed ends none. */
export function lineFinder(bytes: Uint8Array): (offset: number) => number {
  const ends: number[] = []
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) ends.push(at)
  return (offset) => firstIndex(ends.length, (at) => (ends[at] ?? 0) >= offset) + 1
}

/** Finds by binary search the first index below `count` for which `holds`, which holds for all behind it; else `count`. */
export function firstIndex(count: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
