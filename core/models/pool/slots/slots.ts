/** The slots at one server that this process may use, one per request in flight; shared-slots.ts shares their limit. */
export type ServerSlots = {
  /**
   * Takes a slot: `taken`. `soon`: more have been requested, and the listener is called with the answer; `full`: none can be
   * had now. `waiting`: how many requests would take one, this one included.
   */
  take(waiting: number): 'taken' | 'soon' | 'full'
  give(): void
}

export type SlotSource = {
  /** The slots at a server that has `most` of them, all processes together. */
  at(server: string, most: number): ServerSlots
  /** `listener` is called whenever a `take` that failed may succeed now, or should be tried at another server. */
  listen(listener: () => void): void
  /** Gives everything back; slots taken afterwards are not counted. */
  close(): Promise<void>
}

export function openLocalSlots(): SlotSource {
  return {
    at(_server, most) {
      let taken = 0
      return {
        take() {
          if (taken >= most) return 'full'
          taken += 1
          return 'taken'
        },
        give: () => void (taken -= 1),
      }
    },
    listen() {},
    async close() {},
  }
}
