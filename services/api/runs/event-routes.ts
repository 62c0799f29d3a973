import { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { eventCategories, type EventCategory } from '#domain/event.ts'
import { wireEvent } from '#domain/wire-event.ts'
import type { Log } from '#platform/log.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { pageLimit, readQuery } from '../http/query.ts'
import { textStream } from '../http/text-stream.ts'
import { openEventReaders } from './event-readers.ts'
import { eventStream } from './event-stream.ts'
import type { EventSource } from './event-tailer.ts'
import { findRun } from './find-run.ts'
import { readEventPage } from './read-event-page.ts'

export type EventRouteDeps = {
  ledger: EventSource
  log: Pick<Log, 'warn'>
  /** Aborted when the service stops: requests that wait answer with what they have, streams end. */
  closing: AbortSignal
  /** How long a stream may be silent. */
  heartbeatMs?: number
}

const categories = [...new Set<EventCategory>(Object.values(eventCategories))]
const eventsQuery = {
  after: z.coerce.number().int().min(0).default(0),
  category: z.enum(categories).optional(),
  limit: pageLimit(1000, 200),
  wait_ms: z.coerce.number().int().min(0).max(10_000).default(0),
}
const EventNumber = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number)

/** A run's events, as a page of JSON or, for `Accept: text/event-stream`, as a live stream. */
export function eventRoutes({ ledger, log, closing, heartbeatMs }: EventRouteDeps): Hono<ApiEnv> {
  const readers = openEventReaders(ledger)
  const streamOptions = { readers, ...(heartbeatMs === undefined ? {} : { heartbeatMs }) }
  const routes = new Hono<ApiEnv>()
  routes.get('/:run_id/events', async (c) => {
    const query = readQuery(eventsQuery, c)
    const isStream = /\btext\/event-stream\b/i.test(c.req.header('accept') ?? '')
    const after = isStream ? resumeAt(c.req.header('last-event-id'), query.after) : query.after
    const run = await findRun(c.req.param('run_id'), c.get('projectId'), ledger)
    const signal = AbortSignal.any([c.req.raw.signal, closing])
    if (!isStream) {
      const { category, limit, wait_ms: waitMs } = query
      const page = await readEventPage(run, { after, category, limit, waitMs }, { source: ledger, readers }, signal)
      return c.json({ events: page.events.map(wireEvent), next_after: page.nextAfter, run_status: page.runStatus })
    }
    await ledger.readEvents(run.runId, { after, limit: 1 }) // events that cannot be read are still a proper answer
    const gone = new AbortController()
    const frames = eventStream(
      run,
      { after, category: query.category },
      streamOptions,
      AbortSignal.any([signal, gone.signal]),
    )
    const body = textStream(frames, {
      leave: () => gone.abort(),
      onFailure: (error) => log.warn('stream of events broken off', { run_id: run.runId, error }),
    })
    return c.body(body, 200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no', // nginx would hold events back
    })
  })
  return routes
}

/** A client that connects again names the last event it has; its address still has the `after` it began with. */
function resumeAt(lastEventId: string | undefined, after: number): number {
  if (lastEventId === undefined) return after
  const number = EventNumber.safeParse(lastEventId)
  if (!number.success)
    throw new AppError('RUN_002', `Last-Event-ID: "${lastEventId.slice(0, 64)}" is no event's number`)
  return number.data
}
