import type { Clock } from '#platform/clock.ts'
import type { ModelLine, Waiter } from './model-line.ts'
import type { ModelLines } from './model-lines.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Seat } from '../replicas/seat.ts'

export type AdmissionDeps = {
  lines: ModelLines
  /** A seat for a wish that stands with so many like it. */
  seatFor(wish: Waiter['wish'], waiting: number): Seat | undefined
  clock: Clock
}

/**
 * How long those that wait let others go before them: to a replica that comes free the first goes whose requests begin as
 * those there do. Without it a line spreads every key over all replicas, and their prefix caches hold nothing
 * (bench/pool-bench.ts). After that they go before all, wherever a place comes free.
 */
const homeFirstMs = 5000

/** Gives every place that is free to somebody that waits and may have it; `freed` is where one has just come free. */
export function openAdmission({ lines, seatFor, clock }: AdmissionDeps): (freed: Replica | undefined) => void {
  const admitHome = (home: Replica) => {
    const line = lines.oldest(new Set())
    if (line === undefined || clock.now() - line.since() > homeFirstMs) return
    line.admitHome(home, ({ wish }) => seatFor(wish, line.size()))
    lines.dropIfEmpty(line)
  }
  return (freed) => {
    if (freed !== undefined) admitHome(freed)
    const blocked = new Set<ModelLine>()
    for (let line = lines.oldest(blocked); line !== undefined; line = lines.oldest(blocked)) {
      const waiting = line.size()
      if (!line.admitNext(({ wish }) => seatFor(wish, waiting))) blocked.add(line)
      lines.dropIfEmpty(line)
    }
  }
}
