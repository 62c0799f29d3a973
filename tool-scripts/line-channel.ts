import { readSync, writeSync } from 'node:fs'

const chunkBytes = 64 * 1024

/** The lines of a blocking descriptor, until the other side closes it. */
export function* readLines(descriptor: number): Generator<string> {
  const chunk = Buffer.alloc(chunkBytes)
  let pieces: Buffer[] = []
  for (;;) {
    const length = readSync(descriptor, chunk, 0, chunkBytes, null)
    if (length === 0) return
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1 && end < length; end = chunk.indexOf(10, from)) {
      pieces.push(Buffer.from(chunk.subarray(from, end)))
      yield Buffer.concat(pieces).toString('utf8')
      pieces = []
      from = end + 1
    }
    if (from < length) pieces.push(Buffer.from(chunk.subarray(from, length)))
  }
}

/** Writes the whole line, waiting for the reader if necessary. */
export function writeLine(descriptor: number, line: string): void {
  const bytes = Buffer.from(`${line}\n`)
  for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written)
}
