import type { Clock } from '#platform/clock.ts'
import { openAdmission } from './admission.ts'
import { candidateOf, chooseReplica, type Wish } from '../replicas/choose-replica.ts'
import { openDownWatch } from './down-watch.ts'
import type { Waiter } from './model-line.ts'
import { openModelLines, type ModelLines } from './model-lines.ts'
import { openRanking } from '../replicas/rank-replicas.ts'
import type { Replica, Visit } from '../replicas/replica.ts'
import type { Seat } from '../replicas/seat.ts'

export type WaitingLine = {
  /**
   * A place at any replica that may serve the wish, in order of arrival among those that want to go to the same one; a
   * wish that is made again comes before those made for the first time. Undefined when no replica was up for
   * `patienceMs`, or once closed. Rejects with the signal's reason.
   */
  enter(wish: Waiter['wish'], signal: AbortSignal): Promise<Seat | undefined>
  /** A place that is free now and that nobody waits for; never at the replica to avoid. */
  enterNow(wish: Wish): Seat | undefined
  waiting(): number
  /** What decides about places has changed elsewhere. */
  lookAgain(): void
  /** Sends everybody away. */
  close(): void
}

/** One line for all replicas: a place that comes free is never left empty while somebody waits that may have it. */
export function openWaitingLine({ replicas, clock }: { replicas: readonly Replica[]; clock: Clock }): WaitingLine {
  const rank = openRanking(replicas)
  const lines = openModelLines()
  let closed = false
  const seatFor = (wish: Wish, waiting: number): Seat | undefined => {
    const chosen = chooseReplica({ ranked: rank(wish.key), wish, waiting })
    if (chosen === undefined || chosen === 'soon') return undefined
    return seatAt(chosen, chosen.enter(candidateOf(wish, chosen)), () => lookAgain(chosen))
  }
  const admit = openAdmission({ lines, seatFor, clock })
  const watchDown = openDownWatch({ replicas, clock, lines: lines.all, lookAgain: () => lookAgain() })
  const lookAgain = (freed?: Replica) => {
    if (lines.all.size === 0) return
    admit(freed)
    watchDown.look()
    for (const line of lines.all.values()) lines.dropIfEmpty(line)
  }
  const homeOf = ({ key, model }: Wish) =>
    rank(key).find((one) => one.offered.mayOffer(model) && one.breaker.state() === 'closed')
  const stand = (wish: Waiter['wish'], signal: AbortSignal) => {
    const stood = standInLine(lines, { wish, cameAt: clock.now(), home: homeOf(wish) }, signal)
    lookAgain()
    return stood
  }
  return {
    async enter(wish, signal) {
      signal.throwIfAborted()
      if (closed) return undefined
      return (lines.all.has(wish.model) ? undefined : seatFor(wish, 1)) ?? stand(wish, signal)
    },
    enterNow(wish) {
      const seat = closed || lines.all.has(wish.model) ? undefined : seatFor(wish, 1)
      if (seat === undefined || seat.replica !== wish.avoid) return seat
      seat.vacate()
      seat.tell('left')
      return undefined
    },
    waiting: () => [...lines.all.values()].reduce((sum, line) => sum + line.size(), 0),
    lookAgain: () => lookAgain(),
    close() {
      closed = true
      watchDown.stop()
      lines.dismiss()
    },
  }
}

/** `onChange`: what the visit comes to may let somebody in. */
function seatAt(replica: Replica, visit: Visit, onChange: () => void): Seat {
  return {
    replica,
    vacate() {
      visit.vacate()
      onChange()
    },
    tell(end) {
      visit.tell(end)
      onChange()
    },
  }
}

function standInLine(lines: ModelLines, who: Omit<Waiter, 'admit'>, signal: AbortSignal): Promise<Seat | undefined> {
  return new Promise((resolve, reject) => {
    const line = lines.of(who.wish.model)
    const quit = () => {
      line.remove(waiter)
      lines.dropIfEmpty(line)
      reject(reasonOf(signal))
    }
    const waiter: Waiter = {
      ...who,
      admit(seat) {
        signal.removeEventListener('abort', quit)
        resolve(seat)
      },
    }
    line.add(waiter)
    signal.addEventListener('abort', quit, { once: true })
  })
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
