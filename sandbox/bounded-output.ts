const headBytes = 32 * 1024
const tailBytes = 96 * 1024

export type BoundedOutput = {
  add(chunk: Buffer): void
  bytes(): number
  /** Decodes UTF-8; where something is missing, a line says how much. */
  text(): { text: string; cutBytes: number }
}

/** Keeps the beginning and the end of what a program writes, and counts the rest. */
export function openBoundedOutput(): BoundedOutput {
  const head: Buffer[] = []
  let tail: Buffer[] = []
  let [all, inHead, inTail] = [0, 0, 0]
  return {
    add(chunk) {
      all += chunk.length
      const first = chunk.subarray(0, headBytes - inHead)
      if (first.length > 0) head.push(first)
      inHead += first.length
      if (first.length === chunk.length) return
      tail.push(chunk.subarray(first.length))
      inTail += chunk.length - first.length
      if (inTail <= 2 * tailBytes) return
      tail = [lastOf(tail)]
      inTail = tailBytes
    },
    bytes: () => all,
    text() {
      const end = lastOf(tail)
      const cutBytes = all - inHead - end.length
      const start = Buffer.concat(head)
      if (cutBytes === 0) return { text: Buffer.concat([start, end]).toString(), cutBytes }
      return { text: `${start.toString()}\n[${cutBytes} bytes left out]\n${end.toString()}`, cutBytes }
    },
  }
}

function lastOf(chunks: readonly Buffer[]): Buffer {
  return Buffer.concat(chunks).subarray(-tailBytes)
}
