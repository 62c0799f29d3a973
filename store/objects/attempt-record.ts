import { z } from 'zod'
import { ChangeSet } from '#domain/change-set.ts'
import { JournalEntry } from '#domain/external-journal.ts'
import { OperationId, RunId } from '#domain/ids.ts'
import { Outcome } from '#domain/operation.ts'
import { FailedTry, Message, RequestedCall, TokenUsage, ToolResult } from '#domain/turn.ts'
import { type ErrorCode, isErrorCode } from '#domain/error.ts'
import { AskedQuestion } from '#domain/question.ts'

export const ToolRun = z.strictObject({
  turn: z.int(),
  callId: z.string(),
  name: z.string(),
  arguments: z.string(),
  result: ToolResult,
  externals: z.array(JournalEntry),
  printed: z.string().optional(),
  durationMs: z.number(),
  /** Counts the part of `durationMs` in which the script itself was running; absent when its process could not tell. */
  scriptMs: z.number().optional(),
})
export type ToolRun = z.infer<typeof ToolRun>

/** Records one request to the model and how it ended. Of those that were answered, the n-th belongs to the n-th of `replies`. */
export const Exchange = z.strictObject({
  turn: z.int(),
  /** Is in milliseconds since the epoch. */
  startedAt: z.number(),
  durationMs: z.number(),
  /** Counts the part of `durationMs` spent waiting for a slot at a server; absent when it did not wait. */
  queueMs: z.number().optional(),
  firstTokenMs: z.number().optional(),
  model: z.string(),
  endpoint: z.string().optional(),
  tries: z.int().optional(),
  failedTries: z.array(FailedTry).optional(),
  toolChoice: z.string(),
  /** Messages sent, and how many of the conversation before them were left out to make it fit. */
  messages: z.int(),
  leftOut: z.int(),
  usage: TokenUsage.optional(),
  finishReason: z.string().optional(),
  workarounds: z.array(z.string()).optional(),
  error: z.strictObject({ code: z.string().optional(), message: z.string() }).optional(),
})
export type Exchange = z.infer<typeof Exchange>

/** Holds the blob hashes read, folders listed and paths found absent. A result may be reused while they hold. */
export const ReadSet = z.strictObject({
  contents: z.record(z.string(), z.string()),
  listings: z.record(z.string(), z.string()),
  absences: z.array(z.string()),
})
export type ReadSet = z.infer<typeof ReadSet>

/** Holds everything one attempt did, in one object, stored before the outcome that refers to it. */
export const AttemptRecord = z.strictObject({
  v: z.literal(1),
  runId: RunId,
  operationId: OperationId,
  attempt: z.int().min(1),
  bundle: z.string(),
  bundleHash: z.string(),
  model: z.string(),
  versions: z.record(z.string(), z.string()),
  startedAt: z.number(),
  messages: z.array(Message),
  replies: z.array(z.unknown()),
  exchanges: z.array(Exchange),
  tools: z.array(ToolRun),
  reads: ReadSet,
  /** The change sets on the snapshot that it started from, in the order in which they were put together. */
  startedFrom: z.array(z.string()).optional(),
  changeSet: ChangeSet.nullable(),
  changeSets: z.array(ChangeSet).optional(),
  leftAlone: z.array(z.strictObject({ rule: z.string(), line: z.int(), reason: z.string() })).optional(),
  outcome: Outcome.omit({ recordHash: true }),
})
export type AttemptRecord = z.infer<typeof AttemptRecord>

export function changeSetsOf({ changeSet, changeSets }: Pick<AttemptRecord, 'changeSet' | 'changeSets'>): ChangeSet[] {
  return changeSets ?? (changeSet === null ? [] : [changeSet])
}

export const WaitingScript = z.strictObject({
  scriptHash: z.string(),
  inputs: z.record(z.string(), z.unknown()),
  journal: z.array(JournalEntry),
  asked: z.strictObject({ name: z.string(), args: z.array(z.unknown()) }),
  /** Is what the call that takes long failed with, where that is not for the script to know: it ends the next attempt. */
  fault: z.strictObject({ code: z.custom<ErrorCode>(isErrorCode), message: z.string() }).optional(),
})
export type WaitingScript = z.infer<typeof WaitingScript>

export const SubmissionRefusal = z.strictObject({
  kind: z.enum(['refused', 'unverified', 'overstated']),
  code: z.custom<ErrorCode>(isErrorCode),
  reason: z.string(),
})
export type SubmissionRefusal = z.infer<typeof SubmissionRefusal>

/** Says where an agent's loop stands before a turn. */
export const LoopState = z.strictObject({
  turn: z.int().min(1),
  /** Mistakes that the loop tolerates only a limited number of times. */
  corrected: z.boolean(),
  refusedSubmissions: z.int().min(0),
  unverifiedSubmissions: z.int().min(0),
  overstatedSubmissions: z.int().min(0),
})
export type LoopState = z.infer<typeof LoopState>

/** Says where it stands within a turn, at a call that waits for an answer. */
export const SuspendedLoop = z.strictObject({
  ...LoopState.shape,
  /** The calls of this turn that are still to be carried out; the first is the one that waits. */
  calls: z.array(RequestedCall).min(1),
  /** Says why an earlier submission of this turn was refused; null when there was none. */
  refusal: SubmissionRefusal.nullable(),
})
export type SuspendedLoop = z.infer<typeof SuspendedLoop>

const Conversation = AttemptRecord.pick({ messages: true, exchanges: true, tools: true })

/** Is a part of what an attempt says while it runs, without the raw replies. `after` counts what comes before it. */
export const TalkPart = Conversation.extend({
  startedAt: z.number(),
  after: z.strictObject({ messages: z.int(), exchanges: z.int(), tools: z.int() }),
})
export type TalkPart = z.infer<typeof TalkPart>

/** Puts parts together. One that was sent twice, or that has what another one has, changes nothing. */
export function joinTalk(parts: readonly TalkPart[]): z.infer<typeof Conversation> {
  const whole: z.infer<typeof Conversation> = { messages: [], exchanges: [], tools: [] }
  for (const { after, messages, exchanges, tools } of parts) {
    whole.messages.splice(after.messages, Infinity, ...messages)
    whole.exchanges.splice(after.exchanges, Infinity, ...exchanges)
    whole.tools.splice(after.tools, Infinity, ...tools)
  }
  return whole
}

const unfinished = {
  ...AttemptRecord.omit({ changeSet: true, outcome: true }).shape,
  /** Measures how long this attempt and those that it continues have run, without waiting time. */
  spentMs: z.number().min(0),
  usage: TokenUsage,
  /** Has their executable bits where these are not what the snapshot has. */
  written: z.array(z.strictObject({ path: z.string(), text: z.string(), executable: z.boolean().optional() })),
  deleted: z.array(z.string()).optional(),
  /** Counts the safe lint fixes that were made before the agent began. */
  fixedFirst: z.int().min(0),
}

export const SuspendedAttempt = z.strictObject({
  ...unfinished,
  /** Is null when it waits for a call that takes long. */
  question: AskedQuestion.nullable(),
  loop: SuspendedLoop,
  /** Is null when the call itself waits, for approval. */
  waiting: WaitingScript.nullable(),
})
export type SuspendedAttempt = z.infer<typeof SuspendedAttempt>

/** An attempt that was handed back between two turns. */
export const HandedBackAttempt = z.strictObject({ ...unfinished, loop: LoopState })
export type HandedBackAttempt = z.infer<typeof HandedBackAttempt>

/** Holds what a later attempt, perhaps in another process, needs to continue. Written before the ledger refers to it. */
export const UnfinishedAttempt = z.union([SuspendedAttempt, HandedBackAttempt])
export type UnfinishedAttempt = z.infer<typeof UnfinishedAttempt>
