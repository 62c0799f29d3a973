import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { stream } from 'hono/streaming'
import { isEnded, type Run, type RunStatus } from '#domain/run.ts'
import { type Event, wireEvent } from '#domain/event.ts'
import { repeatEvery } from '#platform/clock.ts'
import { type Log, storeAtFault } from '#platform/log.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { type EventSource, eventStream, nextEvents, type StreamOptions, type StreamQuery } from './event-stream.ts'
import { composingView, findRun } from './run-view.ts'
import { eventEndpoints } from './event-endpoints.ts'

export type EventRouteDeps = {
  ledger: EventSource
  redactor: Redactor
  log: Pick<Log, 'debug' | 'warn'>
  /** When it aborts, waiting requests answer with what they have, and streams end. */
  closing: AbortSignal
  heartbeatMs?: number
  recheckMs?: number
}

const defaultRecheckMs = 3_000

const streamHeaders = {
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no', // nginx would hold events back
}

/** `Accept: text/event-stream` asks for a live stream instead of a page. */
export function addEventRoute(routes: OpenAPIHono<ApiEnv>, deps: EventRouteDeps): void {
  const { log, closing, heartbeatMs, recheckMs = defaultRecheckMs } = deps
  const ledger = redactedEvents(deps)
  const streamOptions = { source: ledger, ...(heartbeatMs === undefined ? {} : { heartbeatMs }) }
  routes.openapi(eventEndpoints.events, async (c) => {
    const { after, category, limit, wait_ms: waitMs } = c.req.valid('query')
    const { projectId } = c.get('caller')
    const run = await findRun(c.req.valid('param').run_id, projectId, ledger)
    const signal = AbortSignal.any([c.req.raw.signal, closing])
    if (!/\btext\/event-stream\b/i.test(c.req.header('accept') ?? '')) {
      const page = await readEventPage(run, { after, category, limit, waitMs }, ledger, signal)
      const { nextAfter: next_after, runStatus: run_status } = page
      return c.json({ events: page.events.map(wireEvent), next_after, run_status, composing: composingView(run) }, 200)
    }
    // A client that connects again sends the id of its last event; its URL still has the `after` of its first request.
    const resumed = c.req.valid('header')['last-event-id'] ?? after
    await ledger.readEvents(run.runId, { after: resumed, limit: 1 }) // a failure can still be answered with a problem
    const isAllowed = async () => {
      const now = await c.get('callerNow')()
      return now?.projectId === projectId && now.scopes.includes('runs:read')
    }
    for (const [name, value] of Object.entries(streamHeaders)) c.header(name, value)
    return streamTo(c, run, { after: resumed, category }, { log, streamOptions, isAllowed, recheckMs, signal })
  })
}

/** Events are stored without secrets, but the api knows secrets that their writers do not. */
function redactedEvents({ ledger, redactor }: Pick<EventRouteDeps, 'ledger' | 'redactor'>): EventSource {
  return {
    getRun: (runId) => ledger.getRun(runId),
    async readEvents(runId, page) {
      const events = await ledger.readEvents(runId, page)
      return events.map((event) => ({ ...event, data: redactor.record(event.data) }))
    },
  }
}

type StreamDeps = {
  log: Pick<Log, 'debug' | 'warn'>
  streamOptions: StreamOptions
  /** Tells whether the token may still read. A failure is ignored: it is asked again after `recheckMs`. */
  isAllowed(): Promise<boolean>
  recheckMs: number
  signal: AbortSignal
}

/** Hono takes a text when the client has taken those before, so a slow client slows the reading down. */
function streamTo(c: Context<ApiEnv>, run: Run, query: StreamQuery, deps: StreamDeps): Response {
  const over = new AbortController()
  const frames = eventStream(run, query, deps.streamOptions, AbortSignal.any([deps.signal, over.signal]))
  return stream(
    c,
    async (client) => {
      client.onAbort(() => over.abort())
      const stopChecks = repeatEvery(deps.recheckMs, async () => {
        if (!(await deps.isAllowed())) over.abort()
      })
      try {
        for await (const text of frames) await client.write(text)
      } finally {
        await stopChecks()
      }
    },
    async (error) => {
      const note = storeAtFault(error) === undefined ? deps.log.warn : deps.log.debug
      note('stream of events broken off', { run_id: run.runId, error })
    },
  )
}

type EventQuery = StreamQuery & {
  limit: number
  waitMs: number
}

/** `nextAfter` is the last event that was read, whether it matched or not. */
type EventPage = { events: Event[]; nextAfter: number; runStatus: RunStatus }

const scanSize = 500
/** After so many pages the answer is sent, even if it is short or empty. */
const maxScans = 8

/**
 * `run` must have been read just now. Without events it waits up to `waitMs`, or until the run has ended or `signal` is aborted.
 * An ended run with an empty page has no more events.
 */
async function readEventPage(
  run: Run,
  query: EventQuery,
  source: EventSource,
  signal: AbortSignal,
): Promise<EventPage> {
  const page = await scan(run, query, source)
  if (page.events.length > 0 || isEnded(run.status) || query.waitMs === 0) return { ...page, runStatus: run.status }
  return waitForEvents(run, { ...query, after: page.nextAfter }, source, signal)
}

async function scan(
  { runId }: Run,
  { category, limit, after }: EventQuery,
  source: Pick<EventSource, 'readEvents'>,
): Promise<Omit<EventPage, 'runStatus'>> {
  const events: Event[] = []
  let nextAfter = after
  for (let scans = 0; scans < maxScans; scans += 1) {
    const size = category === undefined ? limit : scanSize
    const page = await source.readEvents(runId, { after: nextAfter, limit: size })
    for (const event of page) {
      nextAfter = event.seq
      if (category === undefined || event.category === category) events.push(event)
      if (events.length === limit) return { events, nextAfter }
    }
    if (page.length < size) break
  }
  return { events, nextAfter }
}

async function waitForEvents(
  run: Run,
  { after, limit, category, waitMs }: EventQuery,
  source: EventSource,
  signal: AbortSignal,
): Promise<EventPage> {
  const deadline = performance.now() + waitMs
  for (let from = after; ;) {
    const next = await nextEvents(run, { after: from, limit, waitMs: deadline - performance.now() }, source, signal)
    from = next.nextAfter
    const events = next.events.filter((event) => category === undefined || event.category === category)
    const isOver = next.isLast || signal.aborted || performance.now() >= deadline
    if (events.length > 0 || isOver) return { events, nextAfter: from, runStatus: next.status }
  }
}
