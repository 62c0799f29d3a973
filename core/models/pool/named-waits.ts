import type { Clock } from '#platform/clock.ts'
import type { Replica } from './replicas/replica.ts'

/** The servers that told one request when they may be asked again (`Retry-After`). */
export type NamedWaits = {
  note(replica: Replica, waitMs: number): void
  isWaiting(replica: Replica): boolean
  /** Until the first of these may be asked; 0 where one may be now. */
  leastMs(replicas: readonly Replica[]): number
  /** Calls `work` whenever one may be asked again, until the returned function is called. */
  whenOver(work: () => void): () => void
}

/** A server that names a longer time is asked again all the same. */
const mostMs = 30_000

export function openNamedWaits(clock: Pick<Clock, 'now' | 'after'>): NamedWaits {
  const until = new Map<Replica, number>()
  const leftMs = (replica: Replica) => Math.max(0, (until.get(replica) ?? 0) - clock.now())
  return {
    note: (replica, waitMs) => void until.set(replica, clock.now() + Math.min(waitMs, mostMs)),
    isWaiting: (replica) => leftMs(replica) > 0,
    leastMs: (replicas) => Math.min(...replicas.map(leftMs)),
    whenOver(work) {
      const left = [...until.keys()].map(leftMs).filter((ms) => ms > 0)
      const stops = left.map((ms) => clock.after(Math.ceil(ms) + 1, work))
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}
