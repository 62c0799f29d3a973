import { type Clock, systemClock } from '#platform/clock.ts'

export type ServerSlots = {
  /** `soon`: more were requested, and the listener hears the answer. `waiting` counts the requests that would take one. */
  take(waiting: number): 'taken' | 'soon' | 'full'
  give(): void
  /** The server asked for it (`Retry-After`): no process takes a slot for so long. The pause that ends last counts. */
  pause(ms: number): void
  pauseLeftMs(): number
}

export type SlotSource = {
  /** All processes together have `most` slots at the server. */
  at(server: string, most: number): ServerSlots
  /** `listener` is called whenever a `take` that failed may succeed now, or should be tried at another server. */
  listen(listener: () => void): void
  /** Gives everything back; slots taken afterwards are not counted. */
  close(): Promise<void>
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
    at(_server, most) {
      const pause = openPause(clock)
      let taken = 0
      return {
        take() {
          if (taken >= most || pause.leftMs() > 0) return 'full'
          taken += 1
          return 'taken'
        },
        give: () => void (taken -= 1),
        pause: pause.begin,
        pauseLeftMs: pause.leftMs,
      }
    },
    listen() {},
    async close() {},
  }
}
