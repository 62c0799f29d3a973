/** Small values hold little each, and a turn costs a few microseconds. */
const messagesPerTurn = 64
/** A collection costs a few milliseconds, less than it takes to hand over so much. */
const bytesPerCollection = 8 * 1024 * 1024

/**
 * Frees what Monty allocated and nobody holds any more, in a process that only ever blocks: Node does so between two turns
 * of its event loop, for what a collection found, and V8 does not know how much memory there is to win. Call what it
 * returns after every message, with the bytes that came and went; it is a promise when a turn is due.
 */
export function openFreeing(): (bytes: number) => Promise<void> | undefined {
  let messages = 0
  let held = 0
  return (bytes) => {
    messages += 1
    held += bytes
    const isFull = held > bytesPerCollection
    if (messages < messagesPerTurn && !isFull) return undefined
    if (isFull) {
      globalThis.gc?.()
      held = 0
    }
    messages = 0
    return new Promise((resolve) => void setImmediate(resolve))
  }
}
