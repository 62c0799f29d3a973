import { RunId } from '#domain/ids.ts'
import { connectRedis } from '#platform/connect-redis.ts'
import type { Log } from '#platform/log.ts'
import { stopsChannel } from './keys.ts'

export type StopSignals = {
  /** Calls `listener` each time the run is told to stop from now on. The answer ends that; calling it twice is harmless. */
  on(runId: RunId, listener: () => void): () => void
  close(): void
}

export type StopSignalsOptions = {
  redisUrl: string
  /** As the ledger's. */
  namespace?: string
  log: Pick<Log, 'warn'>
}

/**
 * Hears which runs shall stop, over a connection of its own that connects again by itself. A signal is only a hint that
 * makes a stop quick: whether the run stops is for the ledger to say, and one that is lost (Redis was away, or the
 * listener came too late) is noticed at the next heartbeat. What is not the id of a run is ignored.
 */
export function openStopSignals({ redisUrl, namespace = 'remora', log }: StopSignalsOptions): StopSignals {
  const { redis, stopWaiting } = connectRedis(redisUrl, { retries: null }, log)
  const listeners = new Map<RunId, Set<() => void>>()
  let closed = false
  redis.on('message', (_channel: string, message: string) => {
    const runId = RunId.safeParse(message)
    if (!runId.success) return
    for (const listener of listeners.get(runId.data) ?? []) listener()
  })
  redis.subscribe(stopsChannel(namespace)).catch((error: unknown) => {
    if (!closed) log.warn('stop signals are not heard', { error })
  })
  return {
    on(runId, listener) {
      // A wrapper of its own, so that the same function given twice is two listeners.
      const call = () => listener()
      const ofRun = listeners.get(runId) ?? new Set()
      listeners.set(runId, ofRun.add(call))
      return () => {
        ofRun.delete(call)
        if (ofRun.size === 0 && listeners.get(runId) === ofRun) listeners.delete(runId)
      }
    },
    close() {
      closed = true
      stopWaiting()
      redis.disconnect()
    },
  }
}
