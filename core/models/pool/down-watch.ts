import type { Clock } from '#platform/clock.ts'
import type { ModelLine } from './model-line.ts'
import type { Replica } from './replica.ts'

export type DownWatchOptions = {
  replicas: readonly Replica[]
  clock: Clock
  lines: ReadonlyMap<string, ModelLine>
  lookAgain(): void
}

/** While replicas are down, looks again when one may be asked again and when somebody's patience ends. */
export function openDownWatch({ replicas, clock, lines, lookAgain }: DownWatchOptions) {
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
