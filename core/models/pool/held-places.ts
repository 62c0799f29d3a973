import type { Places } from './places.ts'

/** The places at one server that are leased to this process. */
export type HeldPlaces = Places & {
  /** Whether there is anything to tell or to renew. */
  isActive(): boolean
  /** Whether more are wanted than there are, or others want what is held. */
  isWanted(): boolean
  /**
   * What the server has, what is held from now on, what would be used, and 1 when something was reported before. What has
   * not been used lately is let go.
   */
  report(): [most: number, held: number, demand: number, isKnown: 0 | 1]
  /** The answer to a report: what is held, and how much of it may be kept. */
  grant(held: number, keep: number): void
  /** Asking for more may be of use again. */
  mayAsk(): void
  /** While Redis is away there is always one place, and never more than were held. */
  setAway(isAway: boolean): void
  /** Lets everything go. */
  drop(): void
}

/** What was used within so long is kept for the next requests. */
const keepMs = 1500

export function openHeldPlaces({ most, ask }: { most: number; ask(): void }): HeldPlaces {
  let [held, keep, taken, wanted, told] = [0, most, 0, 0, 0]
  let used = { most: 0, since: -Infinity, before: 0 }
  let [isAsked, isFull, isAway] = [false, false, false]
  const usable = () => (isAway ? Math.max(1, Math.min(held, keep)) : Math.min(held, keep))
  const turnUsed = () => {
    if (performance.now() - used.since < keepMs) return
    used = { most: taken, since: performance.now(), before: used.most }
  }
  return {
    take(waiting) {
      if (taken < usable()) {
        taken += 1
        used.most = Math.max(used.most, taken)
        return 'taken'
      }
      wanted = Math.max(wanted, waiting)
      if (isFull || isAway) return 'full'
      ask()
      return 'soon'
    },
    give: () => void (taken -= 1),
    isActive: () => held + taken + wanted + told > 0,
    isWanted: () => wanted > 0 || isFull || held > keep,
    report() {
      turnUsed()
      held = Math.max(taken, Math.min(held, keep, Math.max(used.most, used.before)))
      const demand = Math.min(most, taken + wanted)
      isAsked = wanted > 0
      wanted = 0
      const isKnown = told > 0 ? 1 : 0
      told = Math.max(held, demand)
      return [most, held, demand, isKnown]
    },
    grant(now, mine) {
      held = now
      keep = mine
      isFull = isAsked && taken >= usable()
    },
    mayAsk: () => void (isFull = false),
    setAway(now) {
      isAway = now
    },
    drop() {
      held = taken = wanted = 0
      used = { most: 0, since: Infinity, before: 0 }
    },
  }
}
