/** What the header of a RESP2 or RESP3 value announces besides its own line. Streamed values are in no server's answers. */
const bulkTypes = '$=!'
const listTypes = '*~>'
const mapTypes = '%'
/** An attribute comes before the value it says something about. */
const attributeType = '|'

/**
 * Where the value that starts at `start` ends: the index after its last byte, undefined while some of it is still to
 * come. A command is framed like an answer.
 */
export function frameEnd(bytes: Buffer, start = 0): number | undefined {
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd === -1) return undefined
  const type = bytes.toString('latin1', start, start + 1)
  const size = Number(bytes.toString('latin1', start + 1, lineEnd))
  const body = lineEnd + 2
  if (bulkTypes.includes(type)) return bulkEnd(bytes, body, size)
  if (listTypes.includes(type)) return valuesEnd(bytes, body, size)
  if (mapTypes.includes(type)) return valuesEnd(bytes, body, 2 * size)
  if (type === attributeType) return valuesEnd(bytes, body, 2 * size + 1)
  return body
}

function bulkEnd(bytes: Buffer, body: number, size: number): number | undefined {
  if (size < 0) return body
  const end = body + size + 2
  return end <= bytes.length ? end : undefined
}

function valuesEnd(bytes: Buffer, body: number, values: number): number | undefined {
  let end = body
  for (let left = values; left > 0; left -= 1) {
    const next = frameEnd(bytes, end)
    if (next === undefined) return undefined
    end = next
  }
  return end
}

/** The complete values at the start of what has come, and what is left of it. */
export function splitFrames(bytes: Buffer): { frames: Buffer[]; rest: Buffer } {
  const frames: Buffer[] = []
  let start = 0
  for (;;) {
    const end = frameEnd(bytes, start)
    if (end === undefined) return { frames, rest: bytes.subarray(start) }
    frames.push(bytes.subarray(start, end))
    start = end
  }
}

/** The words of a command: clients send it as a list of bulk strings. */
export function wordsOf(command: Buffer): string[] {
  const words: string[] = []
  for (let at = command.indexOf('\r\n') + 2; at < command.length;) {
    const body = command.indexOf('\r\n', at) + 2
    const end = body + Number(command.toString('latin1', at + 1, body - 2))
    words.push(command.toString('utf8', body, end))
    at = end + 2
  }
  return words
}
