import { pause } from '#client/timers.ts'

/** Returns a function that says that something is another now: it is read at once, and then at most every `everyMs`; the last wish is never forgotten. */
export function openRefresh(read: () => Promise<unknown>, everyMs: number, closing: AbortSignal): () => void {
  let isReading = false
  let isWanted = false
  async function run(): Promise<void> {
    isReading = true
    while (isWanted && !closing.aborted) {
      isWanted = false
      await read().catch(() => {}) // the stream notices when the service is away
      await pause(everyMs, closing).catch(() => {})
    }
    isReading = false
  }
  return () => {
    isWanted = true
    if (!isReading) void run()
  }
}
