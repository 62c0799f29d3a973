/** The most of something, lately. */
export type RecentPeak = {
  note(value: number): void
  /** Of this window and the last; a window that is over begins anew with `now`. */
  most(now: number): number
  forget(): void
}

export function openRecentPeak(windowMs: number): RecentPeak {
  let peak = { most: 0, since: -Infinity, before: 0 }
  return {
    note: (value) => void (peak.most = Math.max(peak.most, value)),
    most(now) {
      const at = performance.now()
      if (at - peak.since >= windowMs) peak = { most: now, since: at, before: peak.most }
      return Math.max(peak.most, peak.before)
    },
    forget: () => void (peak = { most: 0, since: Infinity, before: 0 }),
  }
}
