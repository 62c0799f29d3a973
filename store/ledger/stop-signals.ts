import { RunId } from '#domain/ids.ts'
import { connectRedis, type RedisLog } from '#platform/redis-client.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { stopsChannel } from './keys.ts'

export type StopSignals = ReturnType<typeof openStopSignals>

export type StopSignalsOptions = { redisUrl: string; namespace?: string; log: RedisLog }

/** A signal is only a hint: the ledger decides, and a lost one is made up for at the next heartbeat. */
export function openStopSignals({ redisUrl, namespace = 'remora', log }: StopSignalsOptions) {
  const { redis, stopWaiting } = connectRedis(redisUrl, { retries: null }, log)
  const listeners = new Map<RunId, Set<() => void>>()
  let closed = false
  redis.on('message', (_channel: string, message: string) => {
    const runId = RunId.safeParse(message)
    if (!runId.success) return
    for (const listener of listeners.get(runId.data) ?? []) listener()
  })
  redis.subscribe(stopsChannel(namespace)).catch((error: unknown) => {
    if (!closed) log.warn('stop signals are not received', { error })
  })
  return {
    /** Calls `listener` at each stop of the run from now on, until the returned function is called (once or twice). */
    on(runId: RunId, listener: () => void): () => void {
      // A wrapper of its own, so that the same function given twice is two listeners.
      const call = () => listener()
      const ofRun = getOrMake(listeners, runId, () => new Set()).add(call)
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
