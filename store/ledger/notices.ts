import { z } from 'zod'
import { RunId } from '#domain/ids.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { connectRedis, type RedisLog } from '#platform/redis-client.ts'
import { toldChannel } from './keys.ts'

export type SignalOptions = { redisUrl: string; namespace?: string; log: RedisLog }

/** What a channel says of a run, and the number that comes with it. */
type RunSignal = { runId: RunId; seq: number }

/**
 * Is called without a signal for a message that is of no run, when the connection was away, since some may have been missed, and of all
 * runs when the first are heard, too.
 */
type Listener = (signal?: RunSignal) => void

export type RunSignals = ReturnType<typeof openRunSignals>

const allRuns = 'all'
const Message = z.tuple([RunId]).rest(z.coerce.number())

/** Hears what a channel says of runs. A signal is only a hint: the ledger decides, and what is said while nobody hears it is lost. */
export function openRunSignals({ redisUrl, log }: SignalOptions, channel: string) {
  const { redis, stopWaiting } = connectRedis(redisUrl, { retries: null }, log)
  const listeners = new Map<string, Set<Listener>>()
  let closed = false
  let times = 0
  const tell = (key: string, signal?: RunSignal) => {
    for (const listener of listeners.get(key) ?? []) listener(signal)
  }
  const heard = (message: string) => {
    const read = Message.safeParse(message.split(' '))
    if (!read.success) return tell(message)
    const [runId, seq = 0] = read.data
    for (const key of [runId, allRuns]) tell(key, { runId, seq })
  }
  // The connection subscribes again by itself; the answer to this says that it has.
  const subscribe = async () => {
    await redis.subscribe(channel)
    times += 1
    if (closed) return
    for (const key of times === 1 ? [allRuns] : listeners.keys()) tell(key)
  }
  redis.on('message', (_channel: string, message: string) => heard(message))
  redis.on('ready', () => {
    subscribe().catch((error: unknown) => {
      if (!closed) log.warn('a channel of Redis is not heard', { channel, error })
    })
  })
  return {
    /** Calls `listener` for each signal of the run, with `all` of every run, or for a message `of`, from now on, until the returned function is called (once or twice). */
    on(of: string, listener: Listener): () => void {
      // A wrapper of its own, so that the same function given twice is two listeners.
      const call: Listener = (signal) => listener(signal)
      const some = getOrMake(listeners, of, () => new Set()).add(call)
      return () => {
        some.delete(call)
        if (some.size === 0 && listeners.get(of) === some) listeners.delete(of)
      }
    },
    close() {
      closed = true
      stopWaiting()
      redis.disconnect()
    },
  }
}

export type Notices = RunSignals

/** Tells of new events: `seq` is the number of the run's last one; `toldNotice` says that those of a project are in the stream of all runs. */
export function openNotices(options: SignalOptions): Notices {
  return openRunSignals(options, toldChannel(options.namespace ?? 'remora'))
}
