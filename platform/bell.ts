import { after } from './clock.ts'

/** Wakes one who waits for something to happen. A ring that nobody waits for is kept for the next wait; several are one. */
export type Bell = {
  ring(): void
  /** Resolves with the next ring, or after `withinMs`. */
  rung(withinMs?: number): Promise<void>
}

export function openBell(): Bell {
  let isRung = false
  let wake = () => {}
  return {
    ring() {
      isRung = true
      wake()
    },
    async rung(withinMs) {
      if (!isRung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const cancel = withinMs === undefined ? undefined : after(withinMs, resolve)
        await promise
        cancel?.()
      }
      isRung = false
    },
  }
}
