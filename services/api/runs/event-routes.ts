import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Run } from '#domain/run.ts'
import { wireEvent } from '#domain/wire-event.ts'
import type { Log } from '#platform/log.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { textStream } from '../http/text-stream.ts'
import { openEventReaders } from './event-readers.ts'
import { eventStream, type StreamOptions, type StreamQuery } from './event-stream.ts'
import type { EventSource } from './event-tailer.ts'
import { findRun } from './find-run.ts'
import { readEventPage } from './read-event-page.ts'
import { whileAllowed, type WhileAllowed } from './while-allowed.ts'
import { runEndpoints } from './run-endpoints.ts'

export type EventRouteDeps = {
  ledger: EventSource
  log: Pick<Log, 'warn'>
  /** Aborted when the service stops: requests that wait answer with what they have, streams end. */
  closing: AbortSignal
  /** How long a stream may be silent. */
  heartbeatMs?: number
  /** How often the token of an open stream is looked up again. */
  recheckMs?: number
}

const defaultRecheckMs = 3_000

const streamHeaders = {
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no', // nginx would hold events back
}

/** A run's events, as a page of JSON or, for `Accept: text/event-stream`, as a live stream. */
export function addEventRoute(routes: OpenAPIHono<ApiEnv>, deps: EventRouteDeps): void {
  const { ledger, log, closing, heartbeatMs, recheckMs = defaultRecheckMs } = deps
  const readers = openEventReaders(ledger)
  const streamOptions = { readers, ...(heartbeatMs === undefined ? {} : { heartbeatMs }) }
  routes.openapi(runEndpoints.events, async (c) => {
    const { after, category, limit, wait_ms: waitMs } = c.req.valid('query')
    const { projectId } = c.get('caller')
    const run = await findRun(c.req.valid('param').run_id, projectId, ledger)
    const signal = AbortSignal.any([c.req.raw.signal, closing])
    if (!/\btext\/event-stream\b/i.test(c.req.header('accept') ?? '')) {
      const page = await readEventPage(run, { after, category, limit, waitMs }, { source: ledger, readers }, signal)
      const { nextAfter, runStatus } = page
      return c.json({ events: page.events.map(wireEvent), next_after: nextAfter, run_status: runStatus }, 200)
    }
    // A client that connects again names the last event it has; its address still has the `after` it began with.
    const resumed = c.req.valid('header')['last-event-id'] ?? after
    await ledger.readEvents(run.runId, { after: resumed, limit: 1 }) // events that cannot be read are still a proper answer
    const isAllowed = async () => {
      const now = await c.get('callerNow')()
      return now?.projectId === projectId && now.scopes.includes('runs:read')
    }
    const access = { isAllowed, everyMs: recheckMs }
    const body = streamOf(run, { after: resumed, category }, { log, streamOptions, access, signal })
    return c.body(body, 200, streamHeaders)
  })
}

type StreamDeps = {
  log: Pick<Log, 'warn'>
  streamOptions: StreamOptions
  access: Omit<WhileAllowed, 'end'>
  signal: AbortSignal
}

function streamOf(
  run: Run,
  query: StreamQuery,
  { log, streamOptions, access, signal }: StreamDeps,
): ReadableStream<Uint8Array> {
  const over = new AbortController()
  const frames = eventStream(run, query, streamOptions, AbortSignal.any([signal, over.signal]))
  return textStream(whileAllowed(frames, { ...access, end: () => over.abort() }), {
    leave: () => over.abort(),
    onFailure: (error) => log.warn('stream of events broken off', { run_id: run.runId, error }),
  })
}
