import { pause } from '#client/timers.ts'
import type { Connection } from '#client/connection.ts'
import { readStream, type StreamFrame, type StreamOptions } from '#client/read-stream.ts'

const lookEveryMs = 1_000
/** A timer that comes so much too late says that the machine slept, or the page was frozen. */
const sleptMs = 10_000
const hiddenMs = 20_000

/**
 * Calls `follow`, and calls it again, with another signal, once the page was hidden for a while and is seen again, the machine has slept, or the
 * network is back: a connection of before may be dead without a sign, or waits long for its next try, and a browser has six for all pages of a service. Ends when `follow` ends by itself.
 */
export async function whileAwake(follow: (signal: AbortSignal) => Promise<void>, closing: AbortSignal): Promise<void> {
  while (!closing.aborted) {
    await untilSeen(closing)
    const spell = new AbortController()
    const signal = AbortSignal.any([spell.signal, closing])
    void untilHiddenOrSlept(signal).finally(() => spell.abort())
    addEventListener('online', () => spell.abort(), { signal })
    await follow(signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    if (!signal.aborted) return spell.abort()
  }
}

async function untilSeen(closing: AbortSignal): Promise<void> {
  while (document.visibilityState === 'hidden' && !closing.aborted) {
    await new Promise((resolve) => {
      const once = { once: true, signal: closing }
      document.addEventListener('visibilitychange', resolve, once)
      closing.addEventListener('abort', resolve, { once: true })
    })
  }
}

async function untilHiddenOrSlept(signal: AbortSignal): Promise<void> {
  let seenAt = Date.now()
  for (;;) {
    const before = Date.now()
    await pause(lookEveryMs, signal).catch(() => {})
    const now = Date.now()
    if (document.visibilityState === 'visible') seenAt = now
    if (signal.aborted || now - before > sleptMs || now - seenAt > hiddenMs) return
  }
}

const retryMs = 2_000

type Following = {
  path: string
  categories?: StreamOptions['categories']
  /** Returns the `id` of the last frame that is known; without it each connection begins as the first one did. */
  after?: () => string | undefined
  onFrame: (frame: StreamFrame) => void
  onFault: (error: unknown) => void
  closing: AbortSignal
}

/** Follows a stream to its end or until `closing`: through sleep, and as often as the service is away. */
export async function followStream(connection: Connection, options: Following): Promise<void> {
  const { path, categories, after, onFrame, onFault, closing } = options
  await whileAwake(async (signal) => {
    while (!signal.aborted) {
      try {
        for await (const frame of readStream(connection, path, { categories, after: after?.(), signal })) {
          onFrame(frame)
          if (frame.type === 'end') return
        }
      } catch (error) {
        if (signal.aborted) return
        onFault(error)
        await pause(retryMs, signal).catch(() => {})
      }
    }
  }, closing)
}
