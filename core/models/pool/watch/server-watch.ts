import type { Clock } from '#platform/clock.ts'
import { openUndiciFetch } from '../../http/undici-fetch.ts'
import type { Replica } from '../replicas/replica.ts'
import type { ServerMetrics } from './server-metrics.ts'
import { openLook, type WatchedServer } from './watched-server.ts'

export type ServerWatch = {
  /** The servers are in use: they are looked at every few seconds until they no longer are. Cheap. */
  touch(): void
  /** What the server last said; undefined for one that says nothing. */
  metrics(replica: Replica): ServerMetrics | undefined
  close(): Promise<void>
}

export type ServerWatchOptions = {
  servers: readonly WatchedServer[]
  clock: Clock
  /** Whether requests are under way. */
  isInUse(): boolean
  /** Called after every round, with its number. */
  seen(round: number): void
}

const everyMs = 5000
/** vLLM's metrics are some 100 KiB. */
const maxPageBytes = 4 * 1024 * 1024

/**
 * Looks at `/metrics` of servers that are in use, and watches those that are vLLM or llama.cpp by it. A watched server
 * that does not answer counts as one that failed a request; where requests wait inside it from one look to the next, fewer
 * are sent. `/health` is asked of a watched server that is left alone: when it is well, a request may find out at once. Of
 * others it is not asked: a gateway may send requests to all its models for it (LiteLLM does).
 */
export function openServerWatch({ servers, clock, ...watcher }: ServerWatchOptions): ServerWatch {
  const pages = openUndiciFetch({ maxBytes: maxPageBytes })
  const looks = new Map(servers.map((server) => [server.replica, openLook(server, { get: pages.fetch, clock })]))
  const closing = new AbortController()
  let cancel: (() => void) | undefined
  let used = false
  let rounds = 0
  const arm = () => {
    cancel = closing.signal.aborted ? undefined : clock.after(everyMs, () => void round())
  }
  const round = async () => {
    if (!used && !watcher.isInUse()) {
      cancel = undefined
      return
    }
    used = false
    await Promise.all([...looks.values()].map((look) => look.once(closing.signal)))
    if (closing.signal.aborted) return
    watcher.seen((rounds += 1))
    arm()
  }
  return {
    touch() {
      used = true
      if (cancel === undefined) arm()
    },
    metrics: (replica) => looks.get(replica)?.metrics(),
    async close() {
      closing.abort(new Error('closed'))
      cancel?.()
      await pages.close()
    },
  }
}
