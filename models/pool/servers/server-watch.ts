import { hasCode } from '#domain/error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { HttpProxy } from '#platform/env.ts'
import { openUndiciFetch, type UndiciFetch } from '../../http/undici-fetch.ts'
import type { PooledServer } from './pooled-server.ts'
import { openOverloadCheck, readServerMetrics, type ServerMetrics } from './server-metrics.ts'

export type WatchedServer = { server: PooledServer; url: string; apiKey?: string | undefined }

export type ServerWatchOptions = {
  servers: readonly WatchedServer[]
  clock: Clock
  /** Tells whether requests are in flight. */
  isInUse(): boolean
  /** Called after every round, with its number. */
  onRound(round: number): void
  proxy?: HttpProxy | undefined
  log?: Pick<Log, 'warn'> | undefined
}

const roundMs = 5000
/** vLLM's metrics are some 100 KiB. */
const maxPageBytes = 4 * 1024 * 1024

/**
 * Reads `/metrics` of servers that are in use; those whose metrics are vLLM's or llama.cpp's are watched. A watched server
 * that does not answer counts as one that failed a request; when requests stay queued inside it from one check to the next,
 * fewer are sent. While its breaker is open, `/health` is read: when the server is well, a half-open probe may be sent at
 * once. Other servers are not asked for `/health`: a gateway may send requests to all its models for it (LiteLLM does).
 */
export function openServerWatch({ servers, clock, ...watcher }: ServerWatchOptions) {
  const pages = openUndiciFetch({ maxBytes: maxPageBytes, proxy: watcher.proxy })
  const checks = new Map(servers.map((watched) => [watched.server, openCheck(watched, { get: pages.fetch, clock })]))
  const closing = new AbortController()
  let cancel: (() => void) | undefined
  let isUsed = false
  let rounds = 0
  const arm = () => {
    cancel = closing.signal.aborted ? undefined : clock.after(roundMs, round)
  }
  // Nothing awaits a round: no answer of a server may become an unhandled rejection, which ends the process.
  const failed = (error: unknown) => watcher.log?.warn('a look at the model servers failed', { error })
  const round = () => {
    if (isUsed || watcher.isInUse()) void checkAll().catch(failed).finally(arm)
    else cancel = undefined
  }
  const checkAll = async () => {
    isUsed = false
    await Promise.all([...checks.values()].map((check) => check.once(closing.signal).catch(failed)))
    if (!closing.signal.aborted) watcher.onRound((rounds += 1))
  }
  return {
    /** The servers are in use: they are checked every few seconds until they no longer are. Cheap. */
    touch() {
      isUsed = true
      if (cancel === undefined) arm()
    },
    /** The server's last metrics; undefined when it has none. */
    metrics: (server: PooledServer) => checks.get(server)?.metrics(),
    async close() {
      closing.abort(new Error('closed'))
      cancel?.()
      await pages.close()
    },
  }
}

/** `silent`: no answer in time. A page that is too large is empty: the server is well, but says nothing. */
type Page = { status: number; text: string } | 'silent'

const answerMs = 2000
/** A server without metrics is checked again after so long: it may have been starting. */
const restMs = 3 * 60_000

type CheckDeps = { get: UndiciFetch['fetch']; clock: Pick<Clock, 'now'> }

/** Checks one server, one check after the other. */
function openCheck({ server, url, apiKey }: WatchedServer, { get, clock }: CheckDeps) {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  const checkOverload = openOverloadCheck(server)
  let foundAt: string | undefined
  let restsUntil = 0
  let metrics: ServerMetrics | undefined
  const read = (page: string, closing: AbortSignal) => readPage(() => get(page, { headers, signal: within(closing) }))
  /** Rests when no page has a model server's metrics. */
  const find = async (closing: AbortSignal) => {
    for (const base of basesOf(url)) {
      const page = await read(`${base}/metrics`, closing)
      if (page === 'silent') return undefined
      const found = metricsOf(page)
      if (found === undefined) continue
      foundAt = base
      return found
    }
    restsUntil = clock.now() + restMs
    return undefined
  }
  const readAgain = async (base: string, closing: AbortSignal) => {
    const page = await read(`${base}/metrics`, closing)
    if (page === 'silent') {
      if (server.breaker.state() === 'closed' && !closing.aborted) server.breaker.fail()
      return undefined
    }
    if (page.status < 500 && metricsOf(page) === undefined) foundAt = undefined // another server now
    return metricsOf(page)
  }
  return {
    metrics: () => metrics,
    async once(closing: AbortSignal) {
      const at = clock.now()
      if (at < restsUntil) return
      metrics = await (foundAt === undefined ? find(closing) : readAgain(foundAt, closing))
      checkOverload(metrics ?? {})
      if (metrics === undefined || foundAt === undefined || server.breaker.state() !== 'open') return
      const health = await read(`${foundAt}/health`, closing)
      if (health !== 'silent' && health.status === 200) server.breaker.endPause()
    },
  }
}

async function readPage(get: () => Promise<Response>): Promise<Page> {
  try {
    const answer = await get()
    return { status: answer.status, text: await answer.text() }
  } catch (error) {
    return hasCode(error, 'AGENT_007') ? { status: 200, text: '' } : 'silent' // too large
  }
}

function within(closing: AbortSignal): AbortSignal {
  return AbortSignal.any([closing, AbortSignal.timeout(answerMs)])
}

/** Next to `/v1`, where servers behind one gateway have their pages, then at the root. */
function basesOf(url: string): string[] {
  const { origin, pathname } = new URL(url)
  const sibling = `${origin}${pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}`
  return [...new Set([sibling, origin])]
}

function metricsOf(page: Exclude<Page, 'silent'>): ServerMetrics | undefined {
  return page.status === 200 ? readServerMetrics(page.text) : undefined
}
