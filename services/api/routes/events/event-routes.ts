import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { wireEvent } from '#domain/event.ts'
import type { Run } from '#domain/run.ts'
import type { Log } from '#platform/log.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { findRun } from '../runs/run-view.ts'
import { type FollowerDeps, openLogFollower } from './follow-log.ts'
import { type FirstFrame, serverSentEvents, sharedWire, socketMessages } from './frames.ts'
import { openProjectLog, type ToldSource } from './project-log.ts'
import { type EventSource, keptOf, openRunLogs, readEventPage, requireKnown, withoutSecrets } from './run-log.ts'
import { openReaders, type Reader, type ReaderLimits, usualReaderLimits } from './serve-reader.ts'
import { socketSink } from './socket-sink.ts'
import { streamBody } from './stream-body.ts'
import { EventCategoryShape, EventPage } from '#schemas/event-schema.ts'
import { Frame } from '#schemas/frame-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { Timeline } from '#schemas/timeline-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'
import { listed, pageLimit, wholeNumber } from '../../http/schema-parts.ts'

const eventsProse = `
A page of JSON, or with \`Accept: text/event-stream\` a live stream:

\`\`\`
curl -N -H "Authorization: Bearer $REMORA_TOKEN" -H 'Accept: text/event-stream' \\
  "$REMORA_API_URL/v1/runs/$RUN/events"
\`\`\`

- An event is of the default type (\`onmessage\` of an EventSource); \`id:\` is its number, \`data:\` its JSON in one line. It
  begins after \`Last-Event-ID\` if that header is sent, else after \`after\`.
- The first frame says what became of that. \`event: connected\`, \`data: {"seq","missed"}\`: nothing was missed (0), or so many events follow.
  \`event: resync\`, \`data: {"after","first","last"}\`, which may also come later: the log has no such position (it is of another run, or Redis
  has lost the end of the log); begin again.
- The end is \`event: end\` with \`data: {"run_id","status"}\`. Close your EventSource on it, and on \`resync\`.
- With \`category\` only events of these categories are sent; the others still advance the id. \`limit\` has no effect.
- After 15 s of silence comes a comment \`: heartbeat\`, with the number of the last event that was read as \`id:\`.
- A stream stops without \`end\` when the service stops, the connection breaks, nothing is taken for a minute, or the token is revoked or expires
  (within 6 s; the next request is then 401). Connect again with the last id: nothing is missed or sent twice.
- Before the first event the answer may be a problem, STORE_001 or STORE_003. A store that becomes unreachable later is waited for.

A browser's EventSource cannot send a bearer token: use a client based on \`fetch\` there, or a WebSocket. The same address answers a request
for one (\`Upgrade: websocket\`) with the same frames and positions, each frame (\`Frame\`) a message of JSON:

- \`connected\` or \`resync\`, then \`{"type":"event","id","event"}\`, and \`end\`; after 15 s of silence \`{"type":"ping","id"}\`.
- A client may send \`{"type":"ping"}\`, which \`{"type":"pong"}\` answers, and \`{"type":"pong"}\`, at most 4 KiB each.
- The token is in \`Authorization\`, or among the protocols that are offered: \`new WebSocket(url, ['remora',
  'remora.bearer.' + token in base64url])\`. Without one, or for an unknown run, the answer is a problem, not a WebSocket.
- Close codes: 1000 behind \`end\` and \`resync\`, 1001 the service stops, 1009 too long a frame, 1011 events cannot be read, 4400 no frame, 4401 the
  token was revoked or expired, 4404 the run was deleted, 4408 a minute in which nothing was taken or no ping answered, 4429 100 frames in 15 s.

A page that begins past the last event is 400 RUN_002.`

const projectEventsProse = `
The events of all runs of the project: a live stream or a WebSocket with the frames of one run's. What differs:

- A position (\`id\`, \`after\`) is a text. Events of one run are in their order, those of different runs need not be.
- Without a position it begins with what happens from now on; \`after=0\` begins with the first event that is kept.
- \`connected\` has \`{"id","missed"}\`; \`id\` is your position until the first event comes. Events of runs that were deleted do not come.
- There is no \`end\`. \`resync\` says that events behind the position are past \`events.retention_s\` or beyond \`events.stream_ranges\`.`

const timelineProse = `
Its events as sentences, page by page, with what they come to. \`category\` limits the entries alone. \`required_milestones\` are names of events,
comma-separated, that the run must have had, judged by the whole of its events and by exact names: RUN_003 names those that it has not.
\`limit\` counts entries; with \`category\` a page may be short although others follow: continue until \`next_after\` stays the same.`

const ProjectPosition = z
  .string()
  .regex(/^(?:0|\d{1,15}-\d{1,15}\.\d{1,12})$/, 'not a position of the events of all runs')

const lastKnown = wholeNumber(0, 999_999_999_999)
  .default(0)
  .openapi({ default: 0, description: 'number of the last event you have' })

const Categories = listed
  .pipe(z.array(EventCategoryShape).min(1))
  .transform((list): ReadonlySet<string> => new Set(list))
  .optional()
  .openapi({ type: 'string', description: 'categories of events, comma-separated' })

export const eventEndpoints = {
  events: endpoint('runs:read', ['STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/events',
    operationId: 'listEvents',
    summary: 'Its events, in order',
    description: eventsProse.trim(),
    request: {
      params: RunParams,
      query: z.strictObject({
        after: lastKnown,
        category: Categories,
        limit: pageLimit(1000, 200),
      }),
      headers: z.object({
        'last-event-id': z
          .string()
          .regex(/^\d{1,15}$/, 'not the number of an event')
          .transform(Number)
          .optional()
          .openapi({ type: 'integer', description: 'of a stream that is continued: the last id you have' }),
      }),
    },
    responses: {
      200: {
        description: 'a page, or the stream',
        content: {
          'application/json': { schema: EventPage },
          'text/event-stream': { schema: z.string(), itemSchema: Frame },
        },
      },
    },
  }),
  projectEvents: endpoint('runs:read', ['STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/events',
    operationId: 'listProjectEvents',
    summary: 'The events of all runs, as a stream',
    description: projectEventsProse.trim(),
    request: {
      query: z.strictObject({
        after: ProjectPosition.optional().openapi({ description: 'behind which position; without it, the end' }),
        category: Categories,
      }),
      headers: z.object({
        'last-event-id': ProjectPosition.optional().openapi({
          description: 'of a stream that is continued: the last id you have',
        }),
      }),
    },
    responses: {
      200: {
        description: 'the stream',
        content: { 'text/event-stream': { schema: z.string(), itemSchema: Frame } },
      },
    },
  }),
  timeline: endpoint('runs:read', ['RUN_003', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/timeline',
    operationId: 'getTimeline',
    summary: 'What has happened in it, in sentences, and what that comes to',
    description: timelineProse.trim(),
    request: {
      params: RunParams,
      query: z.strictObject({
        category: Categories,
        required_milestones: listed
          .optional()
          .openapi({ type: 'string', description: 'names of events, comma-separated' }),
        after: lastKnown,
        limit: pageLimit(1000, 200),
      }),
    },
    responses: { 200: jsonAnswer('the timeline', Timeline) },
  }),
} as const

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
