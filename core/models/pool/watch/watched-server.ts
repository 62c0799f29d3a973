import { AppError } from '#domain/error.ts'
import type { Clock } from '#platform/clock.ts'
import type { UndiciFetch } from '../../http/undici-fetch.ts'
import type { Replica } from '../replicas/replica.ts'
import { readServerMetrics, type ServerMetrics } from './server-metrics.ts'
import { openWaitingInside } from './waiting-inside.ts'

export type WatchedServer = { replica: Replica; url: string; apiKey?: string | undefined }

export type LookDeps = { get: UndiciFetch['fetch']; clock: Pick<Clock, 'now'> }

/** What a page said; `silent`: nothing, in time. One that is too large says nothing either, but the server is well. */
type Page = { status: number; text: string } | 'silent'

const answerMs = 2000
/** A server without metrics is looked at again after so long: it may have been starting. */
const restMs = 3 * 60_000

/** One look after the other at one server: what it says of itself, and what that means for the requests sent there. */
export function openLook({ replica, url, apiKey }: WatchedServer, { get, clock }: LookDeps) {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  const judgeWaiting = openWaitingInside(replica)
  /** Where its metrics were found. */
  let home: string | undefined
  let restsUntil = 0
  let metrics: ServerMetrics | undefined
  const read = (page: string, closing: AbortSignal) => readPage(() => get(page, { headers, signal: within(closing) }))
  /** Rests when no page is one of a model server's. */
  const find = async (closing: AbortSignal) => {
    for (const base of basesOf(url)) {
      const page = await read(`${base}/metrics`, closing)
      if (page === 'silent') return undefined
      const found = metricsOf(page)
      if (found === undefined) continue
      home = base
      return found
    }
    restsUntil = clock.now() + restMs
    return undefined
  }
  const lookAgain = async (base: string, closing: AbortSignal) => {
    const page = await read(`${base}/metrics`, closing)
    if (page === 'silent') {
      if (replica.breaker.state() === 'closed' && !closing.aborted) replica.breaker.fail()
      return undefined
    }
    if (page.status < 500 && metricsOf(page) === undefined) home = undefined // another server now
    return metricsOf(page)
  }
  return {
    metrics: () => metrics,
    async once(closing: AbortSignal) {
      const at = clock.now()
      if (at < restsUntil) return
      metrics = await (home === undefined ? find(closing) : lookAgain(home, closing))
      judgeWaiting(metrics ?? {}, at)
      if (metrics === undefined || home === undefined || replica.breaker.state() !== 'open') return
      const health = await read(`${home}/health`, closing)
      if (health !== 'silent' && health.status === 200) replica.breaker.endPause()
    },
  }
}

async function readPage(get: () => Promise<Response>): Promise<Page> {
  try {
    const answer = await get()
    return { status: answer.status, text: await answer.text() }
  } catch (error) {
    const isTooLarge = error instanceof AppError && error.code === 'AGENT_007'
    return isTooLarge ? { status: 200, text: '' } : 'silent'
  }
}

function within(closing: AbortSignal): AbortSignal {
  return AbortSignal.any([closing, AbortSignal.timeout(answerMs)])
}

/** Beside `/v1`, as servers behind one gateway have their pages, then at the root. */
function basesOf(url: string): string[] {
  const { origin, pathname } = new URL(url)
  const beside = `${origin}${pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}`
  return [...new Set([beside, origin])]
}

function metricsOf(page: Exclude<Page, 'silent'>): ServerMetrics | undefined {
  return page.status === 200 ? readServerMetrics(page.text) : undefined
}
