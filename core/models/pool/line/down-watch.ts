import type { Clock } from '#platform/clock.ts'
import type { ModelLine, Reach } from './model-line.ts'
import type { Replica } from '../replicas/replica.ts'

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
  const reachOf = (model: string): Reach => {
    const states = replicas.filter(({ offered }) => offered.mayOffer(model)).map(({ breaker }) => breaker.state())
    if (states.includes('closed')) return 'up'
    return states.includes('half_open') ? 'finding_out' : 'down'
  }
  return {
    stop,
    look() {
      stop()
      const now = clock.now()
      const ends = [...lines.values()].map((line) => line.sendAway(reachOf(line.model), now))
      const pauses = replicas.map(({ breaker }) => breaker.pauseLeftMs()).filter((ms) => ms > 0)
      const next = Math.min(...pauses, ...ends)
      const waits = [...lines.values()].some((line) => line.size() > 0)
      if (waits && next !== Infinity) stopTimer = clock.after(Math.ceil(next) + 1, lookAgain)
    },
  }
}
