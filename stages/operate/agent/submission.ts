import { z } from 'zod'
import type { ErrorCode } from '#domain/error.ts'
import { clippedJson, isDeeperThan, isRecord, textFault } from '#domain/json.ts'
import type { RequestedCall, Submission } from '#domain/turn.ts'
import { readWrittenJson } from '#domain/written-json.ts'
import { SubmissionRefusal, type ToolRun } from '#store/objects/attempt-record.ts'
import { msSince } from '#platform/clock.ts'
import type { AgentSettings } from './agent-settings.ts'
import { type AgentEvent, flagsOf, type Journal } from './journal.ts'
import type { Transcript } from './open-transcript.ts'

export type SubmissionAnswer =
  | { kind: 'accepted'; submission: Submission; claimedUnchanged: readonly string[] }
  | SubmissionRefusal

export type Verification =
  | { kind: 'holds' }
  /** It names files that were not changed. It is given back once; after that, what was done counts. */
  | { kind: 'overstates'; reason: string; claimedUnchanged: readonly string[] }
  | { kind: 'fails'; code: ErrorCode; reason: string }

export type Submitter = {
  transcript: Pick<Transcript, 'addToolText' | 'addToolResult'>
  journal: Pick<Journal, 'emit'>
  settings: Pick<AgentSettings, 'maxTurns' | 'verifyAttempts'>
  /** Is called for every submission. Throws the reason of an aborted signal. */
  verify?: ((submission: Submission, signal: AbortSignal) => Promise<Verification>) | undefined
}

/** The loop's turn, and how many submissions before this one claimed more than was done. */
export type SubmissionCount = { turn: number; overstatedSubmissions: number }

/** Answers one `submit_result` call, in the conversation and as an event; a refusal is a run of the tool, too. */
export async function submit(
  run: Submitter,
  { turn, overstatedSubmissions }: SubmissionCount,
  call: RequestedCall,
  signal: AbortSignal,
): Promise<SubmissionAnswer> {
  const start = performance.now()
  const read = submissionOf(call)
  const { maxTurns, verifyAttempts } = run.settings
  const isLast = turn >= maxTurns || verifyAttempts === 0 || overstatedSubmissions > 0
  const answer = read.kind === 'valid' ? await verified(run, read.submission, { isLast, signal }) : read
  const shown = textForModel(answer, read)
  if (answer.kind === 'accepted') run.transcript.addToolText(call, shown)
  else {
    const { code: errorCode, reason } = answer
    const error = { outcome: 'error' as const, summary: reason, error: reason, errorCode, knowledgeDelta: {} }
    const ran = { turn, call, result: { ...error, result: answer }, externals: [], durationMs: msSince(start) }
    run.transcript.addToolResult(ran, { shown })
  }
  run.journal.emit(submissionEvent(turn, call, { read, answer }))
  return answer
}

async function verified(
  run: Submitter,
  submission: Submission,
  { isLast, signal }: { isLast: boolean; signal: AbortSignal },
): Promise<SubmissionAnswer> {
  const accepted = { kind: 'accepted' as const, submission, claimedUnchanged: [] }
  if (run.verify === undefined) return accepted
  const verification = await run.verify(submission, signal)
  if (verification.kind === 'holds') return accepted
  if (verification.kind === 'fails') return { kind: 'unverified', code: verification.code, reason: verification.reason }
  if (isLast) return { ...accepted, claimedUnchanged: verification.claimedUnchanged }
  return { kind: 'overstated', code: 'AGENT_005', reason: verification.reason }
}

function textForModel(answer: SubmissionAnswer, read: ReadSubmission): string {
  if (answer.kind === 'refused') return `Submission refused: ${answer.reason}`
  if (answer.kind !== 'accepted') return `Verification failed: ${answer.reason}`
  return read.kind === 'valid' && read.statusGiven !== undefined
    ? `Submitted. The status ${JSON.stringify(read.statusGiven)} was taken as "${answer.submission.status}".`
    : 'Submitted.'
}

type Answered = { read: ReadSubmission; answer: SubmissionAnswer }

function submissionEvent(turn: number, call: RequestedCall, { read, answer }: Answered): AgentEvent {
  const fields = { turn, ...submissionFields(read), ...flagsOf(call) }
  const received = { event: 'submission.received', phase: 'submission' } as const
  if (answer.kind !== 'accepted') {
    const reasonField = answer.kind === 'refused' ? 'refused' : 'unverified'
    return { ...received, status: 'error', errorCode: answer.code, data: { ...fields, [reasonField]: answer.reason } }
  }
  const { claimedUnchanged } = answer
  const unchanged = claimedUnchanged.length === 0 ? {} : { claimed_unchanged: [...claimedUnchanged] }
  return { ...received, data: { ...fields, ...unchanged } }
}

function submissionFields(read: ReadSubmission) {
  if (read.kind === 'refused') return {}
  const { status, summary } = read.submission
  const given = read.statusGiven === undefined ? {} : { status_given: read.statusGiven }
  return { status, ...given, summary }
}

/** Rebuilds the event of a submission that was given back, from its call and its recorded `run`; undefined for one that was accepted. */
export function replayedSubmission(
  turn: number,
  call: RequestedCall,
  run: ToolRun | undefined,
): AgentEvent | undefined {
  const read = submissionOf(call)
  if (read.kind === 'refused') return submissionEvent(turn, call, { read, answer: read })
  const refusal = SubmissionRefusal.safeParse(run?.result.result).data
  if (refusal === undefined) return undefined
  const { errorCode: _, ...event } = submissionEvent(turn, call, { read, answer: refusal })
  return event
}

type ReadSubmission =
  | {
      kind: 'valid'
      submission: Submission
      statusGiven?: string
    }
  | { kind: 'refused'; code: ErrorCode; reason: string }

/** Limits the depth of `details`: it is stored and sent on by programs that recurse. */
const maxDepth = 32

const WireSubmission = z.object({
  status: z.enum(['success', 'failed', 'skipped']),
  summary: z.string().min(1).max(4000),
  changed_files: z.array(z.string()).max(1000).nullish(),
  details: z
    .record(z.string(), z.unknown())
    .refine((details) => !isDeeperThan(details, maxDepth), `nested deeper than ${maxDepth} levels`)
    .nullish(),
  error: z.string().max(4000).nullish(),
})

const statusWords: Readonly<Record<Submission['status'], readonly string[]>> = {
  success: ['done', 'ok', 'completed', 'complete', 'finished', 'added', 'fixed', 'updated', 'changed'],
  skipped: ['skip', 'unchanged', 'nothing_to_do', 'no_change', 'not_needed'],
  failed: ['failure', 'error', 'fail'],
}

const statusOf = new Map(
  Object.entries(statusWords).flatMap(([status, words]) => [status, ...words].map((word) => [word, status] as const)),
)

const shownCharacters = 100
const shownFaults = 5

/** The submission in a `submit_result` call, or what is wrong with it, in words the model can act on. */
export function submissionOf(call: RequestedCall): ReadSubmission {
  const read = readWrittenJson(call.arguments)
  if ('fault' in read)
    return { kind: 'refused', code: 'AGENT_009', reason: `the arguments are not valid JSON: ${read.fault}` }
  const given = read.value
  const unkept = textFault(given)
  if (unkept !== undefined) return { kind: 'refused', code: 'AGENT_005', reason: unkept }
  const statusGiven = isRecord(given) && typeof given['status'] === 'string' ? given['status'] : undefined
  const meant = statusOf.get(statusGiven?.trim().toLowerCase() ?? '')
  const parsed = WireSubmission.safeParse(isRecord(given) && meant !== undefined ? { ...given, status: meant } : given)
  if (!parsed.success) return { kind: 'refused', code: 'AGENT_005', reason: faultsOf(parsed.error, given) }
  const { status, summary, changed_files: changedFiles, details, error } = parsed.data
  const submission = { status, summary, changedFiles: changedFiles ?? [], details: details ?? {} }
  return {
    kind: 'valid',
    submission: typeof error === 'string' ? { ...submission, error } : submission,
    ...(statusGiven === undefined || statusGiven === status
      ? {}
      : { statusGiven: statusGiven.slice(0, shownCharacters) }),
  }
}

function faultsOf({ issues }: z.ZodError, given: unknown): string {
  const faults = issues.slice(0, shownFaults).map((issue) => {
    const value = issue.path.reduce<unknown>(partOf, given)
    const shown = value === undefined ? 'missing' : `got ${clippedJson(value, shownCharacters)}`
    return `${issue.path.join('.') || 'arguments'}: ${issue.message} (${shown})`
  })
  const more = issues.length > shownFaults ? [`${issues.length - shownFaults} more`] : []
  return [...faults, ...more].join('; ')
}

function partOf(whole: unknown, key: PropertyKey): unknown {
  if (Array.isArray(whole)) return whole[Number(key)]
  return isRecord(whole) ? whole[String(key)] : undefined
}
