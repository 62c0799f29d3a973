/** A file's bytes as text a parser reads, with the way back from text indices to bytes. */
export type SourceText = {
  text: string
  /** Byte offsets of UTF-16 indices, in the order given. Indices must not split a surrogate pair. */
  byteOffsets(indices: readonly number[]): number[]
}

/**
 * Decodes UTF-8 (`judgeContent` lets nothing else through) with its byte order mark, so that every index has its
 * byte.
 */
export function readSourceText(bytes: Uint8Array): SourceText {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const oneByteEach = text.length === bytes.length
  return { text, byteOffsets: (indices) => (oneByteEach ? [...indices] : utf8Offsets(text, indices)) }
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
  return (offset) => {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}
