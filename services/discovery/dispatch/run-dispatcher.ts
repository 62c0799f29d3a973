import { delay } from '#platform/clock.ts'
import { dispatchReady, type DispatchDeps } from './dispatch-ready.ts'

/** How long the dispatcher rests between rounds: while runs are active, and while there are none. */
const busyMs = 25
const idleMs = 150
const afterFailureMs = 1000
/** After the store was away: time for the workers to say that they are still there, before anything counts as lost. */
const hearAgainMs = 10_000

/** Runs the dispatcher's rounds until the answer is called. A round that fails is logged and tried again. */
export function runDispatcher(deps: Omit<DispatchDeps, 'attention'>): () => Promise<void> {
  const stop = new AbortController()
  const attention: DispatchDeps['attention'] = new Map()
  const rest = (ms: number) => delay(ms, stop.signal).catch(() => undefined)
  const running = (async () => {
    while (!stop.signal.aborted) {
      try {
        const active = await dispatchReady({ ...deps, attention })
        await rest(active > 0 ? busyMs : idleMs)
      } catch (error) {
        deps.log.warn('dispatcher round failed', { error })
        for (const one of attention.values()) one.sweepAt = performance.now() + hearAgainMs
        await rest(afterFailureMs)
      }
    }
  })()
  return async () => {
    stop.abort()
    await running
  }
}
