import type { Clock } from '#platform/clock.ts'
import { openUndiciFetch, type UndiciFetch } from '../http/undici-fetch.ts'
import type { Replica } from './replica.ts'
import { openWaitingInside } from './waiting-inside.ts'
import { readServerMetrics, type ServerMetrics } from './server-metrics.ts'

export type WatchedServer = { replica: Replica; url: string; apiKey?: string | undefined }

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
const answerMs = 2000
/** vLLM's metrics are some 100 KiB. */
const maxPageBytes = 4 * 1024 * 1024
/** Those with whom a server says that it has no such page for us, and need not be asked again. */
const noPage = new Set([401, 403, 404, 405, 501])

/**
 * Looks at `/health` and `/metrics` of servers that are in use. A server that is not well counts as one that failed a
 * request; where requests wait inside a server from one look to the next, fewer are sent.
 */
export function openServerWatch({ servers, clock, ...watcher }: ServerWatchOptions): ServerWatch {
  const pages = openUndiciFetch({ connections: 1, maxBytes: maxPageBytes })
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

type LookDeps = { get: UndiciFetch['fetch']; clock: Clock }

function openLook({ replica, url, apiKey }: WatchedServer, { get, clock }: LookDeps) {
  const { origin } = new URL(url)
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  const pages = { health: true, metrics: true }
  let metrics: ServerMetrics | undefined
  const judgeWaiting = openWaitingInside(replica)
  const read = async (page: keyof typeof pages, closing: AbortSignal) => {
    if (!pages[page]) return 'nothing'
    const signal = AbortSignal.any([closing, AbortSignal.timeout(answerMs)])
    const answer = await get(`${origin}/${page}`, { headers, signal }).catch(() => 'no answer' as const)
    if (answer === 'no answer') return answer
    if (noPage.has(answer.status)) pages[page] = false
    return answer.status >= 500 ? 'no answer' : answer.status === 200 ? answer.text() : 'nothing'
  }
  return {
    metrics: () => metrics,
    async once(closing: AbortSignal) {
      const at = clock.now()
      const health = await read('health', closing)
      if (health === 'no answer' && replica.breaker.state() === 'closed' && !closing.aborted) replica.breaker.fail()
      const text = health === 'no answer' ? health : await read('metrics', closing)
      metrics = text === 'no answer' || text === 'nothing' ? undefined : readServerMetrics(text)
      judgeWaiting(metrics ?? {}, at)
    },
  }
}
