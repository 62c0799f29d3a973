import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { wireEvent } from '#domain/event.ts'
import type { Run } from '#domain/run.ts'
import type { Log } from '#platform/log.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { findRun } from '../runs/run-view.ts'
import { eventEndpoints } from './event-endpoints.ts'
import { type FollowerDeps, openLogFollower } from './follow-log.ts'
import { type FirstFrame, serverSentEvents, sharedWire, socketMessages } from './frames.ts'
import { openProjectLog, type ToldSource } from './project-log.ts'
import { type EventSource, keptOf, openRunLogs, readEventPage, requireKnown, withoutSecrets } from './run-log.ts'
import { openReaders, type Reader, type ReaderLimits, usualReaderLimits } from './serve-reader.ts'
import { socketSink } from './socket-sink.ts'
import { streamBody } from './stream-body.ts'

export type StreamDeps = {
  log: Pick<Log, 'debug' | 'warn'>
  /** When it aborts, streams end. */
  closing: AbortSignal
  notices: FollowerDeps['notices']
  readerLimits?: Partial<EventLimits>
}
export type EventRouteDeps = StreamDeps & { ledger: EventSource & ToldSource; redactor: Redactor }

export type EventLimits = ReaderLimits & Pick<FollowerDeps, 'lookMs'>
const usualLimits: EventLimits = { ...usualReaderLimits, lookMs: 15_000 }

const streamHeaders = {
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no', // nginx would hold events back
}

/** `Accept: text/event-stream` asks for a live stream instead of a page, and so does a request for a WebSocket. */
export function addEventRoutes(routes: OpenAPIHono<ApiEnv>, deps: EventRouteDeps): void {
  const { ledger: source, redactor, log } = deps
  const answer = openStreams(deps)
  const logOf = openRunLogs({ source, redactor })
  routes.openapi(eventEndpoints.events, async (c) => {
    const { after, category: categories, limit } = c.req.valid('query')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, source)
    if (!wantsStream(c)) {
      requireKnown(run, after)
      const page = await readEventPage(run, { after, categories, limit }, source)
      const events = page.events.map((event) => wireEvent(withoutSecrets(event, redactor)))
      return c.json({ events, next_after: page.nextAfter, run_status: run.status }, 200)
    }
    // A client that connects again sends the id of its last event; its URL still has the `after` of its first request.
    const resumed = c.req.valid('header')['last-event-id'] ?? after
    await source.readEvents(run.runId, { after: resumed, limit: 1 }) // a failure can still be answered with a problem
    return answer(c, { events: logOf(run), first: firstOfRun(run, resumed), after: String(resumed), categories })
  })
  routes.openapi(eventEndpoints.projectEvents, async (c) => {
    const { after: asked, category: categories } = c.req.valid('query')
    const after = c.req.valid('header')['last-event-id'] ?? asked
    const { projectId } = c.get('caller')
    const logDeps = { source, redactor, log }
    return answer(c, { ...(await openProjectLog(projectId, after, logDeps)), categories })
  })
}

export function wantsStream(c: Context<ApiEnv>): boolean {
  return c.env?.upgrade !== undefined || /\btext\/event-stream\b/i.test(c.req.header('accept') ?? '')
}

/** Returns what answers with a stream of a log, or changes over to a WebSocket. */
export function openStreams({ log, closing, notices, readerLimits }: StreamDeps) {
  const limits = { ...usualLimits, ...readerLimits }
  const logs = openLogFollower({ notices, lookMs: limits.lookMs })
  const serve = openReaders({ logs, log, closing, limits })
  const wires = { stream: sharedWire(serverSentEvents), socket: sharedWire(socketMessages) }
  return async (c: Context<ApiEnv>, asked: Pick<Reader, 'events' | 'first' | 'after' | 'categories'>) => {
    const { projectId } = c.get('caller')
    const isAllowed = async () => {
      const now = await c.get('callerNow')()
      return now?.projectId === projectId && now.scopes.includes('runs:read')
    }
    const reader = { ...asked, isAllowed }
    const upgrade = c.env?.upgrade
    if (upgrade !== undefined) {
      serve({ ...reader, wire: wires.socket, sink: socketSink(await upgrade(), limits) })
      return c.body(null)
    }
    const body = streamBody((sink) => serve({ ...reader, wire: wires.stream, sink }), c.env?.outgoing)
    for (const [name, value] of Object.entries(streamHeaders)) c.header(name, value)
    return c.body(body)
  }
}

function firstOfRun(run: Run, after: number): FirstFrame {
  if (after > run.seq) return { type: 'resync', after: String(after), ...keptOf(run) }
  return { type: 'connected', seq: run.seq, missed: run.seq - after }
}
