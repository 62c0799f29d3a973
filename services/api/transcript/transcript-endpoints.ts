import { z } from '@hono/zod-openapi'
import { OperationId, RunId } from '#domain/ids.ts'
import { ToolResult } from '#domain/turn.ts'
import { endpoint } from '../http/endpoint.ts'
import { OperationStatusShape, RunParams } from '../runs/run-schema.ts'
import { named, orNull, Time } from '../http/schema-parts.ts'
import { EvidenceView } from '../review/change-endpoints.ts'
import { NodeShape } from '../runs/node-endpoints.ts'
import { OutcomeView, TokenUse } from '../runs/operation-view.ts'

const duration = z.number().openapi({ description: 'in milliseconds' })
const result = ToolResult.shape

const RequestedCallView = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    arguments: z.string().openapi({ description: 'as the model wrote them; JSON unless it made a mistake' }),
    parsed_from_content: z.boolean().optional().openapi({ description: 'the call was found in the text of the reply' }),
    by_code: z.boolean().optional().openapi({ description: 'the loop made the call, not the model' }),
  })
  .openapi('RequestedToolCall')
export type RequestedCallView = z.infer<typeof RequestedCallView>

const FailedTry = z
  .strictObject({ endpoint: z.string(), error_code: z.string(), message: z.string(), duration_ms: z.number() })
  .openapi('FailedTry')
const ExchangeError = z
  .strictObject({ error_code: z.string().optional(), message: z.string() })
  .openapi('ExchangeError')

/** A request to the model and how it ended; without `error` it was answered. */
export const ExchangeView = z
  .strictObject({
    started_at: Time,
    duration_ms: duration.openapi({ description: 'in milliseconds, with all tries' }),
    queue_ms: z.number().optional().openapi({ description: 'of it, waiting for a slot at a server' }),
    first_token_ms: z.number().optional(),
    tokens_per_s: z.number().optional().openapi({ description: 'while writing; absent when it was sent again' }),
    model: z.string(),
    endpoint: z.string().optional(),
    tries: z.int().optional().openapi({ description: 'how often it was sent' }),
    failed_tries: z.array(FailedTry).optional().openapi({ description: 'the first ten of those that failed' }),
    tool_choice: z.string(),
    messages: z.int().openapi({ description: 'that were sent' }),
    left_out: z.int().openapi({ description: 'earlier ones that were not sent, to make it fit' }),
    tokens: TokenUse.optional(),
    finish_reason: z.string().optional(),
    workarounds: z.array(z.string()).optional(),
    error: ExchangeError.optional(),
  })
  .openapi('Exchange')
export type ExchangeView = z.infer<typeof ExchangeView>

const ExternalCallError = z.strictObject({ type: z.string(), message: z.string() }).openapi('HostCallError')

const ExternalCallView = z
  .strictObject({
    name: z.string(),
    args: z.array(z.unknown()),
    answer: z.unknown().optional(),
    error: ExternalCallError.optional(),
  })
  .openapi('HostCall')
export type ExternalCallView = z.infer<typeof ExternalCallView>

export const ToolRunView = z
  .strictObject({
    outcome: named('ToolOutcome', result.outcome),
    summary: result.summary,
    error: result.error,
    error_code: result.errorCode,
    result: z.unknown().openapi({ description: 'whole' }),
    host_calls: z.array(ExternalCallView).openapi({ description: 'what its script asked the host, with the answers' }),
    printed: z.string().optional(),
    duration_ms: duration,
    script_ms: z.number().optional(),
  })
  .openapi('ToolRun')
export type ToolRunView = z.infer<typeof ToolRunView>

const MessageEntry = z
  .strictObject({
    kind: z.literal('message'),
    role: z.enum(['system', 'user']).openapi('MessageRole'),
    characters: z.int(),
    content: z.string().nullable().openapi({ description: 'null: left out, as the settings of the service say' }),
  })
  .openapi('TranscriptMessage')

const ModelReply = z
  .strictObject({
    content: z.string().nullable(),
    tool_calls: z.array(RequestedCallView),
    raw: z.unknown().openapi({ description: 'the reply as the server sent it' }),
  })
  .openapi('ModelReply')

const ModelEntry = z
  .strictObject({
    kind: z.literal('model'),
    turn: z.int(),
    exchange: orNull(ExchangeView), // null where an earlier version of Remora asked, and for calls made by code
    reply: orNull(ModelReply).openapi({ description: 'null: the request failed' }),
  })
  .openapi('TranscriptReply')

const ToolEntry = z
  .strictObject({
    kind: z.literal('tool'),
    turn: z.int(),
    call_id: z.string(),
    name: z.string(),
    content: z.string().openapi({ description: 'what the model was given, which may be cut' }),
    run: orNull(ToolRunView).openapi({ description: 'null: no tool ran, as for a submission' }),
  })
  .openapi('TranscriptToolResult')

const QuestionEntry = z
  .strictObject({
    kind: z.literal('question'),
    turn: z.int(),
    question: z.string(),
    choices: z.array(z.string()).nullable(),
    calls: z
      .array(RequestedCallView)
      .openapi({ description: 'those not carried out yet; the first is the one that asks' }),
    host_calls: z.array(ExternalCallView).openapi({ description: 'what its script asked the host before' }),
  })
  .openapi('TranscriptQuestion')

export const TranscriptEntry = z
  .discriminatedUnion('kind', [MessageEntry, ModelEntry, ToolEntry, QuestionEntry])
  .openapi('TranscriptEntry')

const TranscriptVersions = z.record(z.string(), z.string()).openapi('TranscriptVersions')
export type TranscriptEntry = z.infer<typeof TranscriptEntry>
export type EntryOf<K extends TranscriptEntry['kind']> = Extract<TranscriptEntry, { kind: K }>

/** The conversation of one operation, in order and whole. */
export const TranscriptView = z
  .strictObject({
    run_id: RunId,
    operation_id: OperationId,
    agent: z.string(),
    bundle_hash: z.string(),
    node: NodeShape,
    status: OperationStatusShape,
    attempt: z.int().openapi({ description: 'of this conversation, with those that it continues after a question' }),
    record_hash: z.string(),
    model: z.string().openapi({ description: 'as the servers report it; empty: none answered' }),
    versions: TranscriptVersions,
    started_at: Time,
    entries: z.array(TranscriptEntry),
    evidence: z.array(EvidenceView),
    outcome: orNull(OutcomeView).openapi({ description: 'null: it has not ended, and there may be more entries' }),
  })
  .openapi('Transcript')
export type TranscriptView = z.infer<typeof TranscriptView>

const prose = `
Every message in order, with the times, tokens and errors of each request to the model and the whole answer of each tool.
The answer is JSON, or with \`Accept: text/markdown\` or \`format=markdown\` a text for people. Nothing is cut, except that the
text shortens the external calls of scripts and leaves out the raw reply of the server.

The transcript exists once the operation has ended (RUN_006 before), and while it waits for a person: \`outcome\` is then
null, and the last entry is the question. Attempts that were handed back, or whose worker was lost, have no transcript, only
events. RUN_004 also for an operation that ended before it began, or whose attempt left no record.`

const TranscriptFormat = z.enum(['json', 'markdown']).openapi('TranscriptFormat')

/** The conversation of one operation. */
export const transcriptEndpoints = {
  transcript: endpoint('runs:read', ['RUN_001', 'RUN_004', 'RUN_005', 'RUN_006', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/operations/{operation_id}/transcript',
    operationId: 'getTranscript',
    summary: 'The whole conversation of one operation',
    description: prose.trim(),
    request: {
      params: RunParams.extend({ operation_id: OperationId }),
      query: z.strictObject({
        format: TranscriptFormat.optional().openapi({ param: { description: 'takes precedence over `Accept`' } }),
      }),
    },
    responses: {
      200: {
        description: 'the transcript',
        content: { 'application/json': { schema: TranscriptView }, 'text/markdown': { schema: z.string() } },
      },
    },
  }),
} as const
