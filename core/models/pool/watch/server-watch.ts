import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { HttpProxy } from '#platform/proxy-env.ts'
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
  proxy?: HttpProxy | undefined
  log?: Pick<Log, 'warn'> | undefined
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
  const pages = openUndiciFetch({ maxBytes: maxPageBytes, proxy: watcher.proxy })
  const looks = new Map(servers.map((server) => [server.replica, openLook(server, { get: pages.fetch, clock })]))
  const closing = new AbortController()
  let cancel: (() => void) | undefined
  let used = false
  let rounds = 0
  const arm = () => {
    cancel = closing.signal.aborted ? undefined : clock.after(everyMs, round)
  }
  // Nothing waits for a round: whatever a server says, it must not become an unhandled rejection, which ends the process.
  const failed = (error: unknown) => watcher.log?.warn('a look at the model servers failed', { error })
  const round = () => {
    if (used || watcher.isInUse()) void lookAtAll().catch(failed).finally(arm)
    else cancel = undefined
  }
  const lookAtAll = async () => {
    used = false
    await Promise.all([...looks.values()].map((look) => look.once(closing.signal).catch(failed)))
    if (!closing.signal.aborted) watcher.seen((rounds += 1))
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
