import { pause } from '#client/timers.ts'

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
