import type { OpenAPIHono } from '@hono/zod-openapi'
import { wireEvent } from '#domain/event.ts'
import type { Log } from '#platform/log.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { composingView, findRun } from '../runs/run-view.ts'
import { eventEndpoints } from './event-endpoints.ts'
import { type EventSource, type FollowerDeps, openLogFollower, withoutSecrets } from './follow-log.ts'
import { serverSentEvents, sharedWire, socketMessages } from './frames.ts'
import { readEventPage, requireKnown } from './read-event-page.ts'
import { openReaders, type ReaderLimits, usualReaderLimits } from './serve-reader.ts'
import { socketSink } from './socket-sink.ts'
import { streamBody } from './stream-body.ts'

export type EventRouteDeps = {
  ledger: EventSource
  redactor: Redactor
  log: Pick<Log, 'debug' | 'warn'>
  /** When it aborts, waiting requests answer with what they have, and streams end. */
  closing: AbortSignal
  notices: FollowerDeps['notices']
  readerLimits?: Partial<EventLimits>
}

export type EventLimits = ReaderLimits & Pick<FollowerDeps, 'lookMs'>
const usualLimits: EventLimits = { ...usualReaderLimits, lookMs: 15_000 }

const streamHeaders = {
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no', // nginx would hold events back
}

/** `Accept: text/event-stream` asks for a live stream instead of a page, and so does a request for a WebSocket. */
export function addEventRoute(routes: OpenAPIHono<ApiEnv>, deps: EventRouteDeps): void {
  const { ledger, redactor, log, closing, notices, readerLimits } = deps
  const limits = { ...usualLimits, ...readerLimits }
  const logs = openLogFollower({ source: ledger, redactor, notices, lookMs: limits.lookMs })
  const serve = openReaders({ logs, log, closing, limits })
  const wires = { stream: sharedWire(serverSentEvents), socket: sharedWire(socketMessages) }
  routes.openapi(eventEndpoints.events, async (c) => {
    const { after, category, limit, wait_ms: waitMs } = c.req.valid('query')
    const { projectId } = c.get('caller')
    const run = await findRun(c.req.valid('param').run_id, projectId, ledger)
    const upgrade = c.env?.upgrade
    if (upgrade === undefined && !/\btext\/event-stream\b/i.test(c.req.header('accept') ?? '')) {
      requireKnown(run, after)
      const signal = AbortSignal.any([c.req.raw.signal, closing])
      const categories = category === undefined ? undefined : new Set([category])
      const page = await readEventPage(run, { after, categories, limit, waitMs }, { source: ledger, logs, signal })
      const events = page.events.map((event) => wireEvent(withoutSecrets(event, redactor)))
      const { nextAfter: next_after, runStatus: run_status } = page
      return c.json({ events, next_after, run_status, composing: composingView(run) }, 200)
    }
    // A client that connects again sends the id of its last event; its URL still has the `after` of its first request.
    const resumed = c.req.valid('header')['last-event-id'] ?? after
    await ledger.readEvents(run.runId, { after: resumed, limit: 1 }) // a failure can still be answered with a problem
    const isAllowed = async () => {
      const now = await c.get('callerNow')()
      return now?.projectId === projectId && now.scopes.includes('runs:read')
    }
    const reader = { run, after: resumed, category, isAllowed }
    if (upgrade !== undefined) {
      serve({ ...reader, wire: wires.socket, sink: socketSink(await upgrade(), limits) })
      return c.body(null)
    }
    const cut = () => c.env?.outgoing?.destroy()
    const body = streamBody((sink) => serve({ ...reader, wire: wires.stream, sink }), cut)
    for (const [name, value] of Object.entries(streamHeaders)) c.header(name, value)
    return c.body(body)
  })
}
