import { delay } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { dispatchReady, type DispatchDeps } from './dispatch-ready.ts'

/** How long the dispatcher rests between rounds: while runs are active, and while there are none. */
const busyMs = 25
const idleMs = 150
const afterFailureMs = 1000

/** Runs the dispatcher's rounds until the answer is called. A round that fails is logged and tried again. */
export function runDispatcher(deps: DispatchDeps, log: Pick<Log, 'warn'>): () => Promise<void> {
  const stop = new AbortController()
  const rest = (ms: number) => delay(ms, stop.signal).catch(() => undefined)
  const running = (async () => {
    while (!stop.signal.aborted) {
      try {
        const active = await dispatchReady(deps)
        await rest(active > 0 ? busyMs : idleMs)
      } catch (error) {
        log.warn('dispatcher round failed', { error })
        await rest(afterFailureMs)
      }
    }
  })()
  return async () => {
    stop.abort()
    await running
  }
}
