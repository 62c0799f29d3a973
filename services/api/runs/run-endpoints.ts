import { z } from '@hono/zod-openapi'
import { OperationId, RunId } from '#domain/ids.ts'
import { endpoint } from '../http/endpoint.ts'
import { Cursor, pageLimit, wholeNumber } from '../http/schema-parts.ts'
import { EventCategoryShape, EventPage } from './event-endpoints.ts'
import { PlanView } from './plan-view.ts'
import { OperationPage, OperationView } from './operation-view.ts'
import { OperationStatusShape, RunPage, RunParams, RunView } from './run-schema.ts'

const read = (...problems: readonly ('RUN_001' | 'RUN_004' | 'RUN_005' | 'STORE_003' | 'STORE_002')[]) =>
  ({ scope: 'runs:read', problems }) as const

const eventsProse = `
A page of JSON, or with \`Accept: text/event-stream\` a live stream:

\`\`\`
curl -N -H "Authorization: Bearer $REMORA_TOKEN" -H 'Accept: text/event-stream' \\
  "$REMORA_API_URL/v1/runs/$RUN/events"
\`\`\`

- An event is of the default type (\`onmessage\` of an EventSource); \`id:\` is its number, \`data:\` one line, the JSON it
  has in a page.
- The end is \`event: end\` with \`data: {"run_id","status"}\`, then the connection is closed. Close your EventSource on it.
- It begins behind \`Last-Event-ID\` if that header is there, else behind \`after\`.
- With \`category\` only these events come; the others still move the id on with the next heartbeat or event.
- After 15 s of silence there is a comment \`: heartbeat\` with \`id:\`, the number up to which was looked.
- Cut off without \`end\`: the service stopped, the connection broke, or the token was revoked or expired (the next
  request is then 401), within 6 s. Connect again with the last id (\`retry: 2000\`
  asks an EventSource to wait 2 s): nothing is missed or sent twice.
- It is refused before it begins: events that cannot be read are STORE_003, Redis away STORE_001. A store that goes away
  later is waited for, the stream stays open.
- \`limit\` and \`wait_ms\` are checked, without meaning for a stream.

A browser's EventSource cannot send a bearer token: use a client based on \`fetch\` there. Readers of one run share what is
read from Redis; nothing is queued for a slow one, it reads on from where it is.`

/** Reading a run: its state, its operations and its events. */
export const runEndpoints = {
  list: endpoint(read(), {
    method: 'get',
    path: '/v1/runs',
    operationId: 'listRuns',
    summary: 'The runs of the project, newest first',
    request: {
      query: z.strictObject({
        before: RunId.optional().openapi({ description: '`next` of the page before' }),
        limit: pageLimit(100, 20),
      }),
    },
    responses: { 200: { description: 'a page', content: { 'application/json': { schema: RunPage } } } },
  }),
  get: endpoint(read('RUN_001', 'RUN_005', 'STORE_002', 'STORE_003'), {
    method: 'get',
    path: '/v1/runs/{run_id}',
    operationId: 'getRun',
    summary: 'The state of a run',
    request: { params: RunParams },
    responses: { 200: { description: 'the run', content: { 'application/json': { schema: RunView } } } },
  }),
  plan: endpoint(read('RUN_001', 'RUN_004', 'RUN_005', 'STORE_002', 'STORE_003'), {
    method: 'get',
    path: '/v1/runs/{run_id}/plan',
    operationId: 'getRunPlan',
    summary: 'What its planning decided, and why it left out the rest; RUN_004 before it is planned',
    request: { params: RunParams },
    responses: { 200: { description: 'the plan', content: { 'application/json': { schema: PlanView } } } },
  }),
  operations: endpoint(read('RUN_001', 'RUN_005'), {
    method: 'get',
    path: '/v1/runs/{run_id}/operations',
    operationId: 'listOperations',
    summary: 'Its operations, in the order of the plan',
    request: {
      params: RunParams,
      query: z.strictObject({ status: OperationStatusShape.optional(), cursor: Cursor, limit: pageLimit(500, 100) }),
    },
    responses: { 200: { description: 'a page', content: { 'application/json': { schema: OperationPage } } } },
  }),
  operation: endpoint(read('RUN_001', 'RUN_004', 'RUN_005'), {
    method: 'get',
    path: '/v1/runs/{run_id}/operations/{operation_id}',
    operationId: 'getOperation',
    summary: 'One operation with its node, attempt and outcome',
    request: { params: RunParams.extend({ operation_id: OperationId }) },
    responses: { 200: { description: 'the operation', content: { 'application/json': { schema: OperationView } } } },
  }),
  events: endpoint(read('RUN_001', 'RUN_005', 'STORE_002', 'STORE_003'), {
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
        category: EventCategoryShape.optional(),
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
          .openapi({ type: 'integer', description: 'of a stream that goes on: the last id you have' }),
      }),
    },
    responses: {
      200: {
        description: 'a page, or the stream',
        content: { 'application/json': { schema: EventPage }, 'text/event-stream': { schema: z.string() } },
      },
    },
  }),
} as const
