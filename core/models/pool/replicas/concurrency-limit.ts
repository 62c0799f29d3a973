/** How many requests may be at one server at once, found by trying: one more per round that went well, fewer after overload. */
export type ConcurrencyLimit = {
  current(): number
  /** A request was answered well. */
  grow(): void
  /**
   * The server was overloaded, as a request sent at `sentAt` met it; one sent before the last cut says nothing new. Of what
   * was in flight there, or of the limit where that was less, or is not said, `share` is kept; half when absent. That one
   * of a few was refused is the server's state and no word on how many it can do: then the limit counts.
   */
  cut(sentAt: number, how?: { share?: number; inFlight?: number }): void
}

const fewInFlight = 4

export function openConcurrencyLimit({ most, now }: { most: number; now(): number }): ConcurrencyLimit {
  let limit = most
  let credit = 0
  let cutAt = -Infinity
  return {
    current: () => limit,
    grow() {
      if (limit === most) return
      credit += 1
      if (credit < limit) return
      credit = 0
      limit += 1
    },
    cut(sentAt, { share = 0.5, inFlight = Infinity } = {}) {
      if (sentAt < cutAt) return
      const met = inFlight < fewInFlight ? limit : Math.min(limit, inFlight)
      limit = Math.max(1, Math.floor(met * share))
      credit = 0
      cutAt = now()
    },
  }
}
