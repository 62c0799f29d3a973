import type { Places } from './places.ts'
import { openRecentPeak } from './recent-peak.ts'

/** Of one server: how many places it has, how many of them are held here, and how many would be used. */
export type PlacesReport = {
  most: number
  held: number
  demand: number
  /** Something was reported before. */
  isKnown: boolean
}

/** The places at one server that are leased to this process. */
export type HeldPlaces = Places & {
  /** Whether there is anything to tell or to renew. */
  isActive(): boolean
  /** Whether more are wanted than there are, or others want what is held. */
  isWanted(): boolean
  /** Lets go what has not been used lately, and says what is held from now on. */
  report(): PlacesReport
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

/** What Redis would say to a wish for more: perhaps; no, as it has just said; nothing. */
type Supply = 'open' | 'full' | 'away'

export function openHeldPlaces({ most, ask }: { most: number; ask(): void }): HeldPlaces {
  const state = nothingHeld(most)
  let supply: Supply = 'open'
  const used = openRecentPeak(keepMs)
  const usable = () => {
    const own = Math.min(state.held, state.keep)
    return supply === 'away' ? Math.max(1, own) : own
  }
  return {
    take(waiting) {
      if (state.taken < usable()) {
        state.taken += 1
        used.note(state.taken)
        return 'taken'
      }
      state.wanted = Math.max(state.wanted, waiting)
      if (supply !== 'open') return 'full'
      ask()
      return 'soon'
    },
    give: () => void (state.taken -= 1),
    isActive: () => state.held + state.taken + state.wanted + state.told.places > 0,
    isWanted: () => state.wanted > 0 || supply === 'full' || state.held > state.keep,
    report() {
      const { keep, taken, wanted } = state
      state.held = Math.max(taken, Math.min(state.held, keep, used.most(taken)))
      const demand = Math.min(most, taken + wanted)
      const isKnown = state.told.places > 0
      state.told = { places: Math.max(state.held, demand), wanted }
      state.wanted = 0
      return { most, held: state.held, demand, isKnown }
    },
    grant(held, keep) {
      Object.assign(state, { held, keep })
      supply = 'open'
      if (state.told.wanted > 0 && state.taken >= usable()) supply = 'full'
    },
    mayAsk() {
      if (supply === 'full') supply = 'open'
    },
    setAway(isAway) {
      if (isAway) supply = 'away'
      else if (supply === 'away') supply = 'open'
    },
    drop() {
      Object.assign(state, { held: 0, taken: 0, wanted: 0 })
      used.forget()
    },
  }
}

function nothingHeld(most: number) {
  return {
    held: 0,
    /** How many of those held may be kept: the others have a right to the rest. */
    keep: most,
    taken: 0,
    /** Requests that would have taken a place since the last report. */
    wanted: 0,
    told: { places: 0, wanted: 0 },
  }
}
