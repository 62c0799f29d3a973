import { z } from 'zod'
import { OperationId, RunId } from '#domain/id-schemas.ts'
import { ToolResult } from '#domain/turn.ts'
import { EvidenceView } from './change-schema.ts'
import { frameOf } from './frame-schema.ts'
import { NodeShape } from './node-schema.ts'
import { OutcomeView, TokenUse } from './operation-schema.ts'
import { OperationStatusShape } from './run-schema.ts'
import { orNull, Time } from './wire-parts.ts'

const duration = z.number().meta({ description: 'in milliseconds' })
const result = ToolResult.shape

export const RequestedCallView = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    arguments: z.string().meta({ description: 'as the model wrote them; JSON unless it made a mistake' }),
    parsed_from_content: z.boolean().optional().meta({ description: 'the call was found in the text of the reply' }),
    by_code: z.boolean().optional().meta({ description: 'the loop made the call, not the model' }),
  })
  .meta({ id: 'RequestedToolCall' })
export type RequestedCallView = z.infer<typeof RequestedCallView>

const FailedTry = z
  .strictObject({ endpoint: z.string(), error_code: z.string(), message: z.string(), duration_ms: z.number() })
  .meta({ id: 'FailedTry' })
const ExchangeError = z
  .strictObject({ error_code: z.string().optional(), message: z.string() })
  .meta({ id: 'ExchangeError' })

/** A request to the model and how it ended; without `error` it was answered. */
export const ExchangeView = z
  .strictObject({
    started_at: Time,
    duration_ms: duration.meta({ description: 'in milliseconds, with all tries' }),
    queue_ms: z.number().optional().meta({ description: 'of it, waiting for a slot at a server' }),
    first_token_ms: z.number().optional(),
    tokens_per_s: z.number().optional().meta({ description: 'while writing; absent when it was sent again' }),
    model: z.string(),
    endpoint: z.string().optional(),
    tries: z.int().optional().meta({ description: 'how often it was sent' }),
    failed_tries: z.array(FailedTry).optional().meta({ description: 'the first ten of those that failed' }),
    tool_choice: z.string(),
    messages: z.int().meta({ description: 'that were sent' }),
    left_out: z.int().meta({ description: 'earlier ones that were not sent, to make it fit' }),
    tokens: TokenUse.optional(),
    finish_reason: z.string().optional(),
    workarounds: z.array(z.string()).optional(),
    error: ExchangeError.optional(),
  })
  .meta({ id: 'Exchange' })
export type ExchangeView = z.infer<typeof ExchangeView>

const ExternalCallError = z.strictObject({ type: z.string(), message: z.string() }).meta({ id: 'HostCallError' })

export const ExternalCallView = z
  .strictObject({
    name: z.string(),
    args: z.array(z.unknown()),
    answer: z.unknown().optional(),
    error: ExternalCallError.optional(),
  })
  .meta({ id: 'HostCall' })
export type ExternalCallView = z.infer<typeof ExternalCallView>

export const ToolRunView = z
  .strictObject({
    outcome: result.outcome.meta({ id: 'ToolOutcome' }),
    summary: result.summary,
    error: result.error,
    error_code: result.errorCode,
    result: z.unknown().meta({ description: 'whole' }),
    host_calls: z.array(ExternalCallView).meta({ description: 'what its script asked the host, with the answers' }),
    printed: z.string().optional(),
    duration_ms: duration,
    script_ms: z.number().optional(),
  })
  .meta({ id: 'ToolRun' })
export type ToolRunView = z.infer<typeof ToolRunView>

const MessageEntry = z
  .strictObject({
    kind: z.literal('message'),
    role: z.enum(['system', 'user']).meta({ id: 'MessageRole' }),
    characters: z.int(),
    content: z.string().nullable().meta({ description: 'null: left out, as the settings of the service say' }),
  })
  .meta({ id: 'TranscriptMessage' })

const ModelReply = z
  .strictObject({
    content: z.string().nullable(),
    tool_calls: z.array(RequestedCallView),
    raw: z.unknown().meta({ description: 'the reply as the server sent it' }),
  })
  .meta({ id: 'ModelReply' })

const ModelEntry = z
  .strictObject({
    kind: z.literal('model'),
    turn: z.int(),
    exchange: orNull(ExchangeView), // null for calls made by code
    reply: orNull(ModelReply).meta({ description: 'null: the request failed' }),
  })
  .meta({ id: 'TranscriptReply' })

const ToolEntry = z
  .strictObject({
    kind: z.literal('tool'),
    turn: z.int(),
    call_id: z.string(),
    name: z.string(),
    content: z.string().meta({ description: 'what the model was given, which may be cut' }),
    run: orNull(ToolRunView).meta({ description: 'null: no tool ran, as for a submission' }),
  })
  .meta({ id: 'TranscriptToolResult' })

const QuestionEntry = z
  .strictObject({
    kind: z.literal('question'),
    turn: z.int(),
    question: z.string(),
    choices: z.array(z.string()).nullable(),
    calls: z
      .array(RequestedCallView)
      .meta({ description: 'those not carried out yet; the first is the one that asks' }),
    host_calls: z.array(ExternalCallView).meta({ description: 'what its script asked the host before' }),
  })
  .meta({ id: 'TranscriptQuestion' })

export const TranscriptEntry = z
  .discriminatedUnion('kind', [MessageEntry, ModelEntry, ToolEntry, QuestionEntry])
  .meta({ id: 'TranscriptEntry' })

const TranscriptVersions = z.record(z.string(), z.string()).meta({ id: 'TranscriptVersions' })
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
    attempt: z.int().meta({ description: 'of this conversation, with those that it continues after a question' }),
    attempts: z
      .array(z.int())
      .meta({ description: 'those with a conversation of their own; the last one is shown by default' }),
    record_hash: z.string().nullable().meta({
      description: 'null: what an attempt has said that runs, or left no record',
    }),
    model: z.string().meta({ description: 'as the servers report it; empty: none answered' }),
    versions: TranscriptVersions,
    started_at: Time,
    entries: z.array(TranscriptEntry),
    evidence: z.array(EvidenceView),
    outcome: orNull(OutcomeView).meta({ description: 'null: it has not ended, or not with this attempt' }),
  })
  .meta({ id: 'Transcript' })
export type TranscriptView = z.infer<typeof TranscriptView>

const TranscriptPart = z
  .strictObject({ attempt: z.int(), entry: TranscriptEntry.optional(), markdown: z.string().optional() })
  .meta({ id: 'TranscriptPart', description: 'an entry, or a text of one, of the heading or of the end' })
export const TranscriptFrame = frameOf(TranscriptPart, { frame: 'TranscriptFrame', event: 'TranscriptPartFrame' })
export type TranscriptFrame = z.infer<typeof TranscriptFrame>
