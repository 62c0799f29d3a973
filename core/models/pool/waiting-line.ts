import type { Clock } from '#platform/clock.ts'
import { chooseReplica, type Wish } from './choose-replica.ts'
import { openModelLine, type ModelLine, type Waiter } from './model-line.ts'
import { openRanking } from './rank-replicas.ts'
import type { Replica, SeatEnd } from './replica.ts'
import type { Seat } from './seat.ts'

export type WaitingLine = {
  /**
   * A place at any replica that may serve the wish, in order of arrival among those that want to go to the same one; a wish
   * that is made again comes before those made for the first time. Undefined when no replica was up for `patienceMs`, or once closed. Rejects with the signal's
   * reason.
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

/**
 * How long those that wait let others go before them: to a replica that comes free the first goes whose requests begin as
 * those there do. Without it a line spreads every key over all replicas, and their prefix caches hold nothing
 * (bench/pool-bench.ts). After that they go before all, wherever a place comes free.
 */
const homeFirstMs = 5000

/**
 * One line for all replicas: a place that comes free is never left empty while somebody waits that may have it.
 */
export function openWaitingLine({ replicas, clock }: { replicas: readonly Replica[]; clock: Clock }): WaitingLine {
  const rank = openRanking(replicas)
  const lines = openModelLines()
  let closed = false
  const seatFor = (wish: Wish, waiting: number): Seat | undefined => {
    const chosen = chooseReplica({ ranked: rank(wish.key), wish, waiting })
    if (chosen === undefined || chosen === 'soon') return undefined
    const visit = chosen.enter()
    const vacate = () => {
      visit.vacate()
      lookAgain(chosen)
    }
    const tell = (end: SeatEnd) => {
      visit.tell(end)
      lookAgain(chosen)
    }
    return { replica: chosen, vacate, tell }
  }
  /** A place that has come free goes to the first that is at home there, unless somebody has let too many go before. */
  const admitHome = (home: Replica) => {
    const line = lines.oldest(new Set())
    if (line === undefined || clock.now() - line.since() > homeFirstMs) return
    line.admitHome(home, ({ wish }) => seatFor(wish, line.size()))
    lines.dropIfEmpty(line)
  }
  const watchDown = openDownWatch({ replicas, clock, lines: lines.all, lookAgain: () => lookAgain() })
  const lookAgain = (freed?: Replica) => {
    if (lines.all.size === 0) return
    if (freed !== undefined) admitHome(freed)
    const blocked = new Set<ModelLine>()
    for (let line = lines.oldest(blocked); line !== undefined; line = lines.oldest(blocked)) {
      const waiting = line.size()
      if (!line.admitNext(({ wish }) => seatFor(wish, waiting))) blocked.add(line)
      lines.dropIfEmpty(line)
    }
    watchDown.look()
    for (const line of lines.all.values()) lines.dropIfEmpty(line)
  }
  const stand = (wish: Waiter['wish'], signal: AbortSignal) =>
    new Promise<Seat | undefined>((resolve, reject) => {
      const line = lines.of(wish.model)
      const quit = () => {
        line.remove(waiter)
        lines.dropIfEmpty(line)
        reject(reasonOf(signal))
      }
      const admit = (seat: Seat | undefined) => {
        signal.removeEventListener('abort', quit)
        resolve(seat)
      }
      const home = rank(wish.key).find((one) => one.offered.mayOffer(wish.model) && one.breaker.state() === 'closed')
      const waiter: Waiter = { wish, admit, cameAt: clock.now(), home }
      line.add(waiter)
      signal.addEventListener('abort', quit, { once: true })
      lookAgain()
    })
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
      for (const line of lines.all.values()) line.dismiss()
      lines.all.clear()
    },
  }
}

function openModelLines() {
  const all = new Map<string, ModelLine>()
  return {
    all,
    of(model: string): ModelLine {
      const line = all.get(model) ?? openModelLine(model)
      all.set(model, line)
      return line
    },
    dropIfEmpty(line: ModelLine) {
      if (line.size() === 0 && all.get(line.model) === line) all.delete(line.model)
    },
    /** Of those that are not blocked, the one whose first has waited longest. */
    oldest(blocked: Set<ModelLine>): ModelLine | undefined {
      let first: ModelLine | undefined
      for (const line of all.values()) {
        if (!blocked.has(line) && (first === undefined || line.since() < first.since())) first = line
      }
      return first
    },
  }
}

type DownWatchOptions = {
  replicas: readonly Replica[]
  clock: Clock
  lines: ReadonlyMap<string, ModelLine>
  lookAgain(): void
}

/** While replicas are down, looks again when one may be asked again and when somebody's patience ends. */
function openDownWatch({ replicas, clock, lines, lookAgain }: DownWatchOptions) {
  let stopTimer: (() => void) | undefined
  const stop = () => {
    stopTimer?.()
    stopTimer = undefined
  }
  const isAnyUp = (model: string) =>
    replicas.some(({ offered, breaker }) => breaker.state() === 'closed' && offered.mayOffer(model))
  return {
    stop,
    look() {
      stop()
      const now = clock.now()
      const ends = [...lines.values()].map((line) => line.sendAway(isAnyUp(line.model), now))
      const pauses = replicas.map(({ breaker }) => breaker.pauseLeftMs()).filter((ms) => ms > 0)
      const next = Math.min(...pauses, ...ends)
      const waits = [...lines.values()].some((line) => line.size() > 0)
      if (waits && next !== Infinity) stopTimer = clock.after(Math.ceil(next) + 1, lookAgain)
    },
  }
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
