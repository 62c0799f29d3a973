import { pause } from '#client/timers.ts'

/** Returns a function to call when something has changed. It has `read` called at once, then at most every `everyMs`; the last change is always read. */
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
