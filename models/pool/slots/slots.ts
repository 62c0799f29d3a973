import { type Clock, systemClock } from '#platform/clock.ts'

/** The slots at one server that this process may use, one per request in flight; shared-slots.ts shares their limit. */
export type ServerSlots = {
  /**
   * Takes a slot: `taken`. `soon`: more have been requested, and the listener is called with the answer; `full`: none can be
   * had now. `waiting`: how many requests would take one, this one included.
   */
  take(waiting: number): 'taken' | 'soon' | 'full'
  give(): void
  /** Returns how many all processes together may have, for now. */
  most(): number
  /**
   * Too many requests are queued inside the server: all processes together may have no more than this share of the slots that
   * they use now, so no request is sent before as many have ended. Counts once for all processes that say so within 9 s;
   * after 10 s without another cut the limit grows back, within a minute.
   */
  cut(share: number): void
  /** The server asked for it (`Retry-After`): no process takes a slot for so long. The pause that ends last counts. */
  pause(ms: number): void
  /** Until slots may be taken again; 0 when they may. */
  pauseLeftMs(): number
}

export type SlotSource = {
  /** The slots at a server that has `most` of them, all processes together. */
  at(server: string, most: number): ServerSlots
  /** `listener` is called whenever a `take` that failed may succeed now, or should be tried at another server. */
  listen(listener: () => void): void
  /** Gives everything back; slots taken afterwards are not counted. */
  close(): Promise<void>
}

/**
 * Every process cuts a limit after two checks of its metrics, 10 s. `restMs`: so that this counts once for all. `holdMs`: so
 * that the limit does not grow before the next cut may come. `growMs`: from nothing to all slots.
 */
export const cutTimes = { restMs: 9_000, holdMs: 10_000, growMs: 60_000 }

/** Returns what a cut keeps, at least one slot: of the slots in use, or of the limit when none is, since the load is of others then. */
function keptSlots(share: number, { inUse, most }: { inUse: number; most: number }): number {
  return Math.max(1, Math.floor(share * (inUse === 0 ? most : Math.min(most, inUse))))
}

export function openPause({ now }: Pick<Clock, 'now'>) {
  let until = 0
  return {
    begin: (ms: number) => void (until = Math.max(until, now() + ms)),
    leftMs: () => (until === 0 ? 0 : Math.max(0, until - now())),
  }
}

export function openLocalSlots(clock: Pick<Clock, 'now'> = systemClock): SlotSource {
  return {
    at(_server, all) {
      const pause = openPause(clock)
      let taken = 0
      let kept = { slots: all, at: -Infinity }
      const most = () => {
        const growingMs = Math.max(0, clock.now() - kept.at - cutTimes.holdMs)
        return Math.min(all, kept.slots + Math.floor((all * growingMs) / cutTimes.growMs))
      }
      return {
        take() {
          if (taken >= most() || pause.leftMs() > 0) return 'full'
          taken += 1
          return 'taken'
        },
        give: () => void (taken -= 1),
        most,
        cut(share) {
          const at = clock.now()
          if (at - kept.at >= cutTimes.restMs) kept = { slots: keptSlots(share, { inUse: taken, most: most() }), at }
        },
        pause: pause.begin,
        pauseLeftMs: pause.leftMs,
      }
    },
    listen() {},
    async close() {},
  }
}
