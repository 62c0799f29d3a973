import { z } from '@hono/zod-openapi'
import { EventCategoryShape, EventPage, ProjectEventPage } from '#schemas/event-schema.ts'
import { Frame } from '#schemas/frame-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint } from '../../http/endpoint.ts'
import { listed, pageLimit, wholeNumber } from '../../http/schema-parts.ts'

const eventsProse = `
A page of JSON, or with \`Accept: text/event-stream\` a live stream:

\`\`\`
curl -N -H "Authorization: Bearer $REMORA_TOKEN" -H 'Accept: text/event-stream' \\
  "$REMORA_API_URL/v1/runs/$RUN/events"
\`\`\`

- An event is of the default type (\`onmessage\` of an EventSource); \`id:\` is its number, \`data:\` one line, the JSON it
  has in a page.
- It begins after \`Last-Event-ID\` if that header is sent, else after \`after\`. The first frame says what became of that:
  \`event: connected\` with \`data: {"seq","missed"}\`: nothing was missed (\`missed\` is 0), or so many events follow and are
  sent first; or \`event: resync\` with \`data: {"after","first","last"}\`: the log has no such position (it is of another
  run, or Redis has lost the end of the log, which may also come later), nothing more is sent, begin again.
- The end is \`event: end\` with \`data: {"run_id","status"}\`, then the connection is closed. Close your EventSource on it,
  and on \`resync\`.
- With \`category\` only events of these categories are sent; the others still advance the id of the next heartbeat or event.
- After 15 s of silence a comment \`: heartbeat\` is sent, with the number of the last event that was read as \`id:\`.
- A stream stops without \`end\` when the service stops, the connection breaks, or the token is revoked or expires (within
  6 s; the next request is then 401). Connect again with the last id (\`retry: 2000\` asks an EventSource to wait 2 s):
  nothing is missed or sent twice. A reader that takes nothing for a minute is cut.
- Before the first event the answer may be a problem: STORE_003 when events cannot be read, STORE_001 when Redis is
  unreachable. When a store becomes unreachable later, the stream stays open and waits for it.
- \`limit\` and \`wait_ms\` are checked, but have no effect on a stream.

A browser's EventSource cannot send a bearer token: use a client based on \`fetch\` there, or a WebSocket.

The same address answers a request for a WebSocket (\`Upgrade: websocket\`) with the same frames and the same
positions, each frame (\`Frame\`) a message of JSON:

- \`{"type":"connected","seq","missed"}\` or \`{"type":"resync","after","first","last"}\`, then
  \`{"type":"event","id","event"}\` and \`{"type":"end","run_id","status"}\`. After 15 s of silence
  \`{"type":"ping","id"}\`, with the number of the last event that was read.
- A client may send \`{"type":"ping"}\`, which \`{"type":"pong"}\` answers, and \`{"type":"pong"}\`, at most 4 KiB each.
- The token is in \`Authorization\`, or among the protocols that are offered: \`new WebSocket(url, ['remora',
  'remora.bearer.' + token in base64url])\`; the service takes \`remora\`. Without a token, or for an unknown run, the answer is a
  problem, not a WebSocket.
- It is closed with 1000 behind \`end\` and \`resync\`, 1001 when the service stops, 1009 after a longer frame, 1011 when events
  cannot be read, 4400 after what is no frame, 4401 when the token is revoked or expires, 4404 when the run is deleted, 4408
  after a minute in which nothing was taken or no ping of the protocol was answered, 4429 after 100 frames within 15 s.

Nothing is
queued for a slow reader: it continues from its own position. A page that begins past the last event is 400 RUN_002.`

const projectEventsProse = `
The events of all runs of the project: a page of up to 200, a live stream or a WebSocket, by the same headers and with the same frames as
those of one run. What differs:

- A position (\`id\`, \`after\`, \`next_after\`) is a text. Events of one run are in their order, those of different runs need not be.
- Without a position it begins with what happens from now on; \`after=0\` begins with the first event that is kept.
- \`connected\` has \`{"id","missed"}\`; \`id\` is your position until the first event comes. Events of runs that were deleted do not come.
- There is no \`end\`. \`resync\`, of a page 400 RUN_002, says that events behind the position are past \`events.retention_s\` or beyond
  \`events.stream_ranges\`.
- The last page has the \`next_after\` that was asked for; one before it may be short, or empty with \`category\`.`

const ProjectPosition = z
  .string()
  .regex(/^(?:0|\d{1,15}-\d{1,15}\.\d{1,12})$/, 'not a position of the events of all runs')

export const categories = listed
  .pipe(z.array(EventCategoryShape).min(1))
  .transform((list): ReadonlySet<string> => new Set(list))
  .optional()
  .openapi({ type: 'string', description: 'categories of events, comma-separated' })

export const eventEndpoints = {
  events: endpoint('runs:read', ['RUN_001', 'RUN_005', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/events',
    operationId: 'listEvents',
    summary: 'Its events, in order',
    description: eventsProse.trim(),
    request: {
      params: RunParams,
      query: z.strictObject({
        after: wholeNumber(0, 999_999_999_999)
          .default(0)
          .openapi({ default: 0, description: 'number of the last event you have' }),
        category: categories,
        limit: pageLimit(1000, 200),
        wait_ms: wholeNumber(0, 10_000)
          .default(0)
          .openapi({ default: 0, description: 'how long to wait for the first event when there is none yet' }),
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
    summary: 'The events of all runs',
    description: projectEventsProse.trim(),
    request: {
      query: z.strictObject({
        after: ProjectPosition.optional().openapi({ description: 'behind which position; without it, the end' }),
        category: categories,
      }),
      headers: z.object({
        'last-event-id': ProjectPosition.optional().openapi({
          description: 'of a stream that is continued: the last id you have',
        }),
      }),
    },
    responses: {
      200: {
        description: 'a page, or the stream',
        content: {
          'application/json': { schema: ProjectEventPage },
          'text/event-stream': { schema: z.string(), itemSchema: Frame },
        },
      },
    },
  }),
} as const
