import { isEndedOperation, type Operation } from '#domain/operation.ts'
import {
  type AttemptRecord,
  changeSetsOf,
  type Exchange,
  type SuspendedAttempt,
  type ToolRun,
} from '#objects/attempt-record.ts'
import { submitToolName } from '#bundles/tool-definition.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import { failedTryView, type Message, type RequestedCall } from '#domain/turn.ts'
import { AppError } from '#domain/error.ts'
import { isoTime } from '../http/schema-parts.ts'
import { operationView } from '../runs/operation-view.ts'
import type {
  EntryOf,
  ExchangeView,
  HostCallView,
  RequestedCallView,
  ToolRunView,
  TranscriptEntry,
  TranscriptView,
} from './transcript-endpoints.ts'

/** What an operation's record says of its conversation, with how the operation stands. */
export function transcriptView(
  operation: Operation,
  stored: StoredTranscript,
  shown: { fullPrompts: boolean },
): TranscriptView {
  const { hash, record } = stored
  const { node, status, outcome } = operationView(operation)
  const entries = [...transcriptEntries(record, shown)]
  return {
    run_id: record.runId,
    operation_id: record.operationId,
    agent: record.bundle,
    bundle_hash: record.bundleHash,
    node,
    status,
    attempt: record.attempt,
    record_hash: hash,
    model: record.model,
    versions: record.versions,
    started_at: isoTime(Math.min(record.startedAt, ...record.exchanges.slice(0, 1).map(({ startedAt }) => startedAt))),
    entries: stored.kind === 'asked' ? [...entries, questionEntry(stored.record)] : entries,
    evidence: stored.kind === 'ended' ? changeSetsOf(stored.record).flatMap(({ evidence }) => evidence) : [],
    outcome,
  }
}

type Conversation = Pick<AttemptRecord, 'messages' | 'replies' | 'exchanges' | 'tools'>

/**
 * Each message with what is known of it: a reply with the request it answers, a tool's answer with its run. Requests that
 * failed stand where they were made. `fullPrompts` false leaves out the texts the model was begun with.
 */
export function* transcriptEntries(
  { messages, replies, exchanges, tools }: Conversation,
  { fullPrompts }: { fullPrompts: boolean },
): Generator<TranscriptEntry> {
  const requests = [...exchanges]
  // A submission that was given back is recorded as a run; here its message says all of it.
  const runs = tools.filter(({ name }) => name !== submitToolName)
  let calls: RequestedCall[] = []
  let answered = 0
  let turn = 0
  for (const message of messages) {
    if (message.role === 'assistant') {
      while (requests[0]?.error !== undefined) yield failedRequest(requests.shift())
      const request = requests.shift()
      const raw = replies[answered++] ?? null
      turn = request?.turn ?? answered
      calls = [...message.toolCalls]
      yield { kind: 'model', turn, exchange: exchangeView(request), reply: replyView(message, raw) }
    } else if (message.role === 'tool') {
      const call = calls.shift()
      const run = isRunOf(runs[0], call) ? runs.shift() : undefined
      yield toolEntry(message, { turn, name: call?.name ?? '', run })
    } else {
      const { role, content } = message
      const isShown = fullPrompts || answered > 0
      yield { kind: 'message', role, characters: content.length, content: isShown ? content : null }
    }
  }
  for (const request of requests) yield failedRequest(request)
}

/** Where an attempt stopped to ask a person. */
function questionEntry({ question, loop, waiting }: SuspendedAttempt): EntryOf<'question'> {
  return {
    kind: 'question',
    turn: loop.turn,
    question: question.text,
    choices: question.choices,
    calls: loop.calls.map(callView),
    host_calls: waiting.journal.map(hostCallView),
  }
}

function failedRequest(request: Exchange | undefined): EntryOf<'model'> {
  return { kind: 'model', turn: request?.turn ?? 0, exchange: exchangeView(request), reply: null }
}

/** Runs and answers are in one order; ids alone would not do, since models use one again. */
function isRunOf(run: ToolRun | undefined, call: RequestedCall | undefined): boolean {
  return run !== undefined && run.callId === call?.id && run.name === call.name
}

function replyView(
  { content, toolCalls }: Extract<Message, { role: 'assistant' }>,
  raw: unknown,
): EntryOf<'model'>['reply'] {
  return { content, tool_calls: toolCalls.map(callView), raw }
}

function callView({ id, name, arguments: given, parsedFromContent }: RequestedCall): RequestedCallView {
  return { id, name, arguments: given, parsed_from_content: parsedFromContent }
}

function exchangeView(request: Exchange | undefined): ExchangeView | null {
  if (request === undefined) return null
  const { usage, error } = request
  return {
    started_at: isoTime(request.startedAt),
    duration_ms: request.durationMs,
    first_token_ms: request.firstTokenMs,
    tokens_per_s: tokensPerSecond(request),
    model: request.model,
    endpoint: request.endpoint,
    tries: request.tries,
    failed_tries: request.failedTries?.map(failedTryView),
    tool_choice: request.toolChoice,
    messages: request.messages,
    left_out: request.leftOut,
    tokens: usage === undefined ? undefined : { prompt: usage.promptTokens, completion: usage.completionTokens },
    finish_reason: request.finishReason,
    workarounds: request.workarounds,
    error: error === undefined ? undefined : { error_code: error.code, message: error.message },
  }
}

/** Of the time after the first, where that is known. That of a request sent again has the other tries in it. */
function tokensPerSecond({ usage, durationMs, firstTokenMs = 0, tries = 1 }: Exchange): number | undefined {
  const writingMs = durationMs - firstTokenMs
  if (usage === undefined || writingMs <= 0 || tries > 1) return undefined
  return Math.round((usage.completionTokens * 10_000) / writingMs) / 10
}

type AnsweredCall = { turn: number; name: string; run: ToolRun | undefined }

function toolEntry(
  { toolCallId, content }: Extract<Message, { role: 'tool' }>,
  { turn, name, run }: AnsweredCall,
): EntryOf<'tool'> {
  return { kind: 'tool', turn, call_id: toolCallId, name, content, run: run === undefined ? null : runView(run) }
}

function runView({ result, externals, printed, durationMs, scriptMs }: ToolRun): ToolRunView {
  return {
    outcome: result.outcome,
    summary: result.summary,
    error: result.error,
    error_code: result.errorCode,
    result: result.result,
    host_calls: externals.map(hostCallView),
    printed,
    duration_ms: durationMs,
    script_ms: scriptMs,
  }
}

function hostCallView(entry: JournalEntry): HostCallView {
  const { name, args } = entry
  return 'error' in entry ? { name, args, error: entry.error } : { name, args, answer: entry.answer }
}

/** Of an attempt that ended, or of one that stopped to ask a person and had no other after it. */
type StoredTranscript =
  | { kind: 'ended'; hash: string; record: AttemptRecord }
  | { kind: 'asked'; hash: string; record: SuspendedAttempt }

/** Each STORE_003 when the record is missing, or not what its hash says. */
export type TranscriptRecords = {
  readAttempt(projectId: string, recordHash: string): Promise<AttemptRecord>
  readSuspended(projectId: string, recordHash: string): Promise<SuspendedAttempt>
}

/** RUN_006 while there is none yet, RUN_004 where there will never be one. */
export async function storedTranscript(
  operation: Operation,
  projectId: string,
  records: TranscriptRecords,
): Promise<StoredTranscript> {
  const { outcome, suspensionHash } = operation
  const recordHash = outcome?.recordHash
  if (recordHash !== undefined) {
    return { kind: 'ended', hash: recordHash, record: await records.readAttempt(projectId, recordHash) }
  }
  if (suspensionHash === null) throw withoutTranscript(operation)
  return { kind: 'asked', hash: suspensionHash, record: await records.readSuspended(projectId, suspensionHash) }
}

function withoutTranscript({ operationId, runId, status, attempt, outcome }: Operation): AppError {
  const operation = `operation ${operationId} of run ${runId}`
  if (!isEndedOperation(status)) {
    return new AppError(
      'RUN_006',
      `There is no transcript of ${operation} yet: it is ${status}; "remora watch ${runId}" shows when it ends.`,
    )
  }
  const { errorCode, reason, summary = '' } = outcome ?? {}
  const why = [errorCode, reason ?? summary].filter((part) => part !== undefined && part !== '').join(' ')
  const because = why === '' ? '' : ` (${why})`
  if (attempt === 0) {
    return new AppError(
      'RUN_004',
      `There is no transcript of ${operation}: it was ${status} before it began${because}.`,
    )
  }
  return new AppError(
    'RUN_004',
    `There is no transcript of ${operation}: it ${status}${because} and its attempt left no record; the run's events say what is known.`,
  )
}
