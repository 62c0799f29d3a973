/**
 * The places at one server that this process may fill: one per request in flight. Shared by all processes, they keep
 * the server's limit together (shared-places.ts).
 */
export type Places = {
  /**
   * Takes a place: `taken`. `soon`: more are being asked for, and whoever listens is told of the answer; `full`: there are
   * none to be had now. `waiting`: how many requests would take one, this one included.
   */
  take(waiting: number): 'taken' | 'soon' | 'full'
  /** Gives one back that was taken. */
  give(): void
}

export type PlaceKeeper = {
  /** The places at a server that has `most` of them, all processes together. */
  at(server: string, most: number): Places
  /** `listener` is called whenever a `take` that did not succeed may succeed now, or is better tried elsewhere. */
  listen(listener: () => void): void
  /** Gives everything back; what is taken after that counts nowhere. */
  close(): Promise<void>
}

/** For a process that has its servers to itself. */
export function openLocalPlaces(): PlaceKeeper {
  return {
    at(_server, most) {
      let taken = 0
      return {
        take() {
          if (taken >= most) return 'full'
          taken += 1
          return 'taken'
        },
        give() {
          taken -= 1
        },
      }
    },
    listen() {},
    async close() {},
  }
}
