import type { Wish } from '../replicas/choose-replica.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Seat } from '../replicas/seat.ts'

export type Waiter = {
  wish: Wish & {
    /** Has been served before, in vain. */
    again: boolean
    /** How long it waits while no replica is up; while one is found out about is not counted. */
    patienceMs: number
  }
  cameAt: number
  /** The replica it would go to if it had the choice. */
  home: Replica | undefined
  /** Ends the wait. Undefined: there is no place to be had. */
  admit(seat: Seat | undefined): void
}

/** How the servers of a model are: one works, one that did not is being asked by a single request, or none. */
export type Reach = 'up' | 'finding_out' | 'down'

/** Those that wait for one model. */
export type ModelLine = {
  model: string
  size(): number
  /** When the first of them came. */
  since(): number
  add(waiter: Waiter): void
  remove(waiter: Waiter): void
  /** Admits the first for whom there is a seat; true when there was one. */
  admitNext(seatFor: (waiter: Waiter) => Seat | undefined): boolean
  /** The same among those at home there. */
  admitHome(home: Replica, seatFor: (waiter: Waiter) => Seat | undefined): boolean
  /** Sends everybody away. */
  dismiss(): void
  /** Sends those away whose patience with replicas that are down is over; answers when the next one's is. */
  sendAway(reach: Reach, now: number): number
}

export function openModelLine(model: string): ModelLine {
  const again = new Set<Waiter>()
  const fresh = new Set<Waiter>()
  const homes = new Map<Replica | undefined, Set<Waiter>>()
  const down = openDownTime()
  const remove = (waiter: Waiter) => {
    homes.get(waiter.home)?.delete(waiter)
    if (!again.delete(waiter)) fresh.delete(waiter)
  }
  const end = (waiter: Waiter, seat: Seat | undefined) => {
    remove(waiter)
    waiter.admit(seat)
  }
  return {
    model,
    remove,
    size: () => again.size + fresh.size,
    since() {
      for (const waiters of [again, fresh]) for (const waiter of waiters) return waiter.cameAt
      return Infinity
    },
    add(waiter) {
      const neighbours = homes.get(waiter.home) ?? new Set()
      homes.set(waiter.home, neighbours.add(waiter))
      const waiters = waiter.wish.again ? again : fresh
      waiters.add(waiter)
    },
    admitHome(home, seatFor) {
      for (const waiter of homes.get(home) ?? []) {
        const seat = seatFor(waiter)
        if (seat === undefined) return false
        end(waiter, seat)
        return true
      }
      return false
    },
    admitNext(seatFor) {
      return admitFirst([again, fresh], seatFor, end)
    },
    dismiss() {
      for (const waiter of [...again, ...fresh]) end(waiter, undefined)
    },
    sendAway(reach, now) {
      down.note(reach, now)
      return reach === 'down' ? sendAwayTired([...again, ...fresh], down, end) : Infinity
    },
  }
}

function admitFirst(
  lines: readonly Set<Waiter>[],
  seatFor: (waiter: Waiter) => Seat | undefined,
  end: (waiter: Waiter, seat: Seat) => void,
): boolean {
  for (const waiters of lines) {
    for (const waiter of waiters) {
      const seat = seatFor(waiter)
      if (seat !== undefined) end(waiter, seat)
      if (seat !== undefined) return true
      // What one that avoids no replica cannot have, nobody behind it can.
      if (waiter.wish.avoid === undefined) return false
    }
  }
  return false
}

/** Answers when the patience of the next one ends. */
function sendAwayTired(
  waiters: readonly Waiter[],
  down: ReturnType<typeof openDownTime>,
  end: (waiter: Waiter, seat: undefined) => void,
): number {
  let next = Infinity
  for (const waiter of waiters) {
    const leftMs = waiter.wish.patienceMs - down.since(waiter.cameAt)
    if (leftMs <= 0) end(waiter, undefined)
    else next = Math.min(next, leftMs)
  }
  return next
}

/** How long a model has been down since one of its servers worked. */
function openDownTime() {
  /** Without a gap but those in which one was found out about; in order. */
  let spans: { from: number; to: number }[] = []
  let wasDown = false
  return {
    note(reach: Reach, now: number) {
      if (reach === 'up') spans = []
      const last = spans.at(-1)
      if (wasDown && last !== undefined) last.to = now
      if (reach === 'down' && !(wasDown && last !== undefined)) spans.push({ from: now, to: now })
      wasDown = reach === 'down'
    },
    /** Of the time after `from`. */
    since: (from: number) => spans.reduce((sum, span) => sum + Math.max(0, span.to - Math.max(from, span.from)), 0),
  }
}
