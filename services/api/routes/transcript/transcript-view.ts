import { z } from 'zod'
import { wireEvidence } from '#domain/change-set.ts'
import type { OperationId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { isEndedOperation, type Operation } from '#domain/operation.ts'
import {
  type AttemptRecord,
  changeSetsOf,
  type Exchange,
  joinTalk,
  type SuspendedAttempt,
  TalkPart,
  type ToolRun,
  type UnfinishedAttempt,
} from '#store/objects/attempt-record.ts'
import { submitToolName } from '#bundles/tool-definition.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import { failedTryView, type Message, type RequestedCall } from '#domain/turn.ts'
import { AppError } from '#domain/error.ts'
import {
  type EntryOf,
  ExchangeView,
  type ExternalCallView,
  type RequestedCallView,
  ToolRunView,
  type TranscriptEntry,
  TranscriptView,
} from '#schemas/transcript-schema.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import { operationView } from '../runs/operation-view.ts'

type Shown = Omit<AttemptRecord, 'v' | 'reads' | 'startedFrom' | 'outcome' | 'changeSet' | 'changeSets' | 'leftAlone'>

/** `hash`: the name of the record; null for what an attempt has said without one. */
type StoredTranscript =
  | { kind: 'ended'; hash: string; record: AttemptRecord }
  | { kind: 'unfinished'; hash: string; record: UnfinishedAttempt }
  | { kind: 'talk'; hash: null; record: Shown }

type OneAttempt = { operationId: OperationId; attempt: number }

/** All throw STORE_003 when what they read is missing or is another. */
export type TranscriptRecords = {
  readAttempt(projectId: string, recordHash: string): Promise<AttemptRecord>
  readUnfinished(projectId: string, recordHash: string): Promise<UnfinishedAttempt>
}

type TranscriptSource = TranscriptRecords & {
  /** Reads what an attempt has said that has no record (yet), in parts. */
  readTalk(run: Pick<Run, 'projectId' | 'runId'>, attempt: OneAttempt): Promise<unknown[]>
}

/** Lists the attempts that have a conversation of their own: no later one goes on from them. The last one is shown if none is named. */
export function attemptsOf({ attempt, status, outcome, suspensionHash, keptAttempts }: Operation): number[] {
  const hasOwn = outcome?.recordHash !== undefined || suspensionHash !== null || status === 'running'
  return hasOwn && !keptAttempts.includes(attempt) ? [...keptAttempts, attempt] : keptAttempts
}

/** Returns the attempt that is shown. RUN_006 while there is no transcript yet, RUN_004 when there will never be one, or not of this one. */
export function shownAttempt(operation: Operation, asked: number | undefined): number {
  const attempts = attemptsOf(operation)
  const attempt = asked ?? attempts.at(-1)
  if (attempt === undefined || !attempts.includes(attempt)) throw withoutTranscript(operation, asked)
  return attempt
}

/** Reads the conversation of one of the attempts that have one of their own. */
export async function storedTranscript(
  operation: Operation,
  run: Pick<Run, 'projectId' | 'runId'>,
  { records, attempt }: { records: TranscriptSource; attempt: number },
): Promise<StoredTranscript> {
  const { outcome, suspensionHash: resumes, keptAttempts, status } = operation
  const isKept = keptAttempts.includes(attempt)
  const recordHash = isKept ? undefined : outcome?.recordHash
  if (recordHash !== undefined)
    return { kind: 'ended', hash: recordHash, record: await records.readAttempt(run.projectId, recordHash) }
  const talk = isKept || status === 'running' ? await records.readTalk(run, { ...operation, attempt }) : []
  if (isKept || resumes === null || talk.length > 0)
    return { kind: 'talk', hash: null, record: spoken(operation, attempt, talk) }
  return { kind: 'unfinished', hash: resumes, record: await records.readUnfinished(run.projectId, resumes) }
}

function spoken(operation: Operation, attempt: number, talk: unknown[]): Shown {
  const parts = z.array(TalkPart).parse(talk)
  const said = joinTalk(parts)
  const model = said.exchanges.findLast(({ error }) => error === undefined)?.model ?? ''
  const startedAt = parts[0]?.startedAt ?? operation.startedAt ?? 0
  return { ...operation, attempt, model, versions: {}, startedAt, replies: [], ...said }
}

function withoutTranscript(operation: Operation, asked: number | undefined): AppError {
  const { operationId, runId, status, attempt, outcome } = operation
  const none = `There is no transcript of operation ${operationId} of run ${runId}`
  if (!isEndedOperation(status) && (attempt === 0 || asked === undefined))
    return new AppError('RUN_006', `${none} yet: it is ${status}.`)
  if (asked !== undefined && attempt > 0) {
    const others = attemptsOf(operation)
    const there = others.length === 0 ? 'No attempt has one' : `Attempts that have one: ${others.join(', ')}`
    const why = asked > attempt ? `it has had ${attempt}` : 'a later one has gone on from it'
    return new AppError('RUN_004', `${none} for attempt ${asked}: ${why}. ${there}.`)
  }
  const { errorCode, reason, summary = '' } = outcome ?? {}
  const why = [errorCode, reason ?? summary].filter((part) => part !== undefined && part !== '').join(' ')
  const because = why === '' ? '' : ` (${why})`
  const end =
    attempt === 0
      ? `it was ${status} before it began${because}.`
      : `it ${status}${because} and its attempt left no record; the run's events say what is known.`
  return new AppError('RUN_004', `${none}: ${end}`)
}

export function transcriptView(
  operation: Operation,
  stored: StoredTranscript,
  shown: { fullPrompts: boolean },
): TranscriptView {
  const { hash, record } = stored
  const { node, status, outcome } = operationView(operation)
  const entries = [...transcriptEntries(record, shown)]
  const began = Math.min(record.startedAt, record.exchanges[0]?.startedAt ?? Infinity)
  const attempts = attemptsOf(operation)
  // One that goes on from a record, and has said nothing since, has that conversation.
  const attempt = stored.kind === 'unfinished' ? operation.attempt : record.attempt
  return viewOf(TranscriptView, record, {
    agent: record.bundle,
    node,
    status,
    attempt,
    attempts,
    record_hash: hash,
    started_at: isoTime(began),
    entries: [...entries, ...('question' in record ? questionEntries(record) : [])],
    evidence:
      stored.kind === 'ended' ? changeSetsOf(stored.record).flatMap(({ evidence }) => evidence.map(wireEvidence)) : [],
    outcome: attempts.some((later) => later > attempt) ? null : outcome,
  })
}

type Conversation = Pick<AttemptRecord, 'messages' | 'replies' | 'exchanges' | 'tools'>

/** Failed requests appear where they were made. Without `fullPrompts` the texts before the first reply are left out. */
export function* transcriptEntries(
  { messages, replies, exchanges, tools }: Conversation,
  { fullPrompts }: { fullPrompts: boolean },
): Generator<TranscriptEntry> {
  const requests = [...exchanges]
  // A rejected submission is recorded as a run, but its message has everything there is to show.
  const runs = tools.filter(({ name }) => name !== submitToolName)
  let calls: RequestedCall[] = []
  let answered = 0
  let turn = 0
  for (const message of messages) {
    if (message.role === 'assistant' && message.toolCalls.some(({ byCode }) => byCode === true)) {
      calls = [...message.toolCalls]
      const reply = { content: null, tool_calls: calls.map(callView), raw: null }
      yield { kind: 'model', turn: ++turn, exchange: null, reply }
    } else if (message.role === 'assistant') {
      while (requests[0]?.error !== undefined) yield failedRequest(requests.shift())
      const request = requests.shift()
      const { content, toolCalls } = message
      const reply = { content, tool_calls: toolCalls.map(callView), raw: replies[answered++] ?? null }
      turn = request?.turn ?? answered
      calls = [...toolCalls]
      yield { kind: 'model', turn, exchange: exchangeView(request), reply }
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

function questionEntries({ question, loop, waiting }: SuspendedAttempt): EntryOf<'question'>[] {
  if (question === null) return []
  const { text, choices } = question
  const host_calls = (waiting?.journal ?? []).map(externalCallView)
  return [{ kind: 'question', turn: loop.turn, question: text, choices, calls: loop.calls.map(callView), host_calls }]
}

function failedRequest(request: Exchange | undefined): EntryOf<'model'> {
  return { kind: 'model', turn: request?.turn ?? 0, exchange: exchangeView(request), reply: null }
}

/** Runs and answers are in the same order. An id alone does not identify a call: models use one again. */
function isRunOf(run: ToolRun | undefined, call: RequestedCall | undefined): boolean {
  return run !== undefined && run.callId === call?.id && run.name === call.name
}

function callView({ id, name, arguments: given, parsedFromContent, byCode }: RequestedCall): RequestedCallView {
  return { id, name, arguments: given, parsed_from_content: parsedFromContent, by_code: byCode }
}

function exchangeView(request: Exchange | undefined): ExchangeView | null {
  if (request === undefined) return null
  const { startedAt, failedTries, usage, error } = request
  return viewOf(ExchangeView, request, {
    started_at: isoTime(startedAt),
    tokens_per_s: tokensPerSecond(request),
    failed_tries: failedTries?.map(failedTryView),
    tokens: usage === undefined ? undefined : { prompt: usage.promptTokens, completion: usage.completionTokens },
    error: error === undefined ? undefined : { error_code: error.code, message: error.message },
  })
}

/** Counts the time after the first token, where that is known. Undefined for a request that was sent again. */
function tokensPerSecond({
  usage,
  durationMs,
  queueMs = 0,
  firstTokenMs = 0,
  tries = 1,
}: Exchange): number | undefined {
  const writingMs = durationMs - queueMs - firstTokenMs
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
  const record = { ...result, printed, durationMs, scriptMs }
  return viewOf(ToolRunView, record, { host_calls: externals.map(externalCallView) })
}

function externalCallView(entry: JournalEntry): ExternalCallView {
  const { name, args } = entry
  return 'error' in entry ? { name, args, error: entry.error } : { name, args, answer: entry.answer }
}
