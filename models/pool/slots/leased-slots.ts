import { systemClock } from '#platform/clock.ts'
import { openPause } from './slots.ts'

const keepMs = 1500

type Supply = 'open' | 'full' | 'unreachable'

export type Grant = { held: number; keep: number; pauseLeftMs: number }

/**
 * Holds the slots at one server that are leased to this process. `isWanted`: more are wanted, here or elsewhere. `report` gives
 * up what has not been used lately, and `grant` takes the answer. `mayAsk`: asking for more may help again. `hasNews`: the
 * others should know of a pause. Without Redis there is always one slot, and never more than were held.
 */
export type LeasedSlots = ReturnType<typeof openLeasedSlots>

export function openLeasedSlots({ most, ask }: { most: number; ask(): void }) {
  const state = nothingHeld(most)
  let supply: Supply = 'open'
  const used = openRecentPeak(keepMs)
  const pause = openToldPause(ask)
  const own = () => Math.min(state.held, state.keep)
  const usable = () => (supply === 'unreachable' ? Math.max(1, own()) : own())
  return {
    pause: pause.begin,
    pauseLeftMs: pause.leftMs,
    hasNews: pause.isNew,
    take(waiting: number) {
      if (pause.leftMs() > 0) return 'full'
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
    isActive: () => state.held + state.taken + state.wanted + state.reported.slots > 0,
    isWanted: () => state.wanted > 0 || supply === 'full' || state.held > state.keep,
    report() {
      const { keep, taken, wanted } = state
      state.held = Math.max(taken, Math.min(state.held, keep, used.most(taken)))
      const demand = Math.min(most, taken + wanted)
      const hasReported = state.reported.slots > 0
      Object.assign(state, { reported: { slots: Math.max(state.held, demand), wanted }, wanted: 0 })
      return { most, held: state.held, demand, hasReported, pauseLeftMs: pause.tell() }
    },
    grant({ held, keep, pauseLeftMs }: Grant) {
      Object.assign(state, { held, keep })
      if (pauseLeftMs > 0) pause.learn(pauseLeftMs)
      supply = 'open'
      if (state.reported.wanted > 0 && state.taken >= usable()) supply = 'full'
    },
    mayAsk: () => void (supply === 'full' && (supply = 'open')),
    setUnreachable(isUnreachable: boolean) {
      if (isUnreachable || supply === 'unreachable') supply = isUnreachable ? 'unreachable' : 'open'
    },
    drop() {
      Object.assign(state, { held: 0, taken: 0, wanted: 0 })
      used.reset()
    },
  }
}

/** The other processes may not know of the pause yet: `tell` returns what is left of a new one, once. */
function openToldPause(ask: () => void) {
  const { begin, leftMs } = openPause(systemClock)
  let isNew = false
  return {
    learn: begin,
    leftMs,
    isNew: () => isNew,
    begin(ms: number) {
      begin(ms)
      isNew = true
      ask()
    },
    tell(): number {
      const ms = isNew ? leftMs() : 0
      isNew = false
      return ms
    },
  }
}

function nothingHeld(most: number) {
  return {
    held: 0,
    /** Counts those held that may be kept: other processes have a right to the rest. */
    keep: most,
    taken: 0,
    wanted: 0,
    reported: { slots: 0, wanted: 0 },
  }
}

function openRecentPeak(windowMs: number) {
  let peak = { most: 0, since: -Infinity, before: 0 }
  return {
    note: (value: number) => void (peak.most = Math.max(peak.most, value)),
    /** A window that is over is followed by one that begins with `now`. */
    most(now: number): number {
      const at = performance.now()
      if (at - peak.since >= windowMs) peak = { most: now, since: at, before: peak.most }
      return Math.max(peak.most, peak.before)
    },
    reset: () => void (peak = { most: 0, since: Infinity, before: 0 }),
  }
}
