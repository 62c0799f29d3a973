/** How many requests may be at one server at once, found by trying: one more per round that went well, half after overload. */
export type ConcurrencyLimit = {
  current(): number
  /** A request was answered well. */
  grow(): void
  /** The server was overloaded, as a request sent at `sentAt` met it. One sent before the last cut says nothing new. */
  cut(sentAt: number): void
}

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
    cut(sentAt) {
      if (sentAt < cutAt) return
      limit = Math.max(1, Math.floor(limit / 2))
      credit = 0
      cutAt = now()
    },
  }
}
