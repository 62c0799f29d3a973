import type { ErrorCode } from '#domain/error.ts'
import type { RequestedCall, Submission } from '#domain/turn.ts'
import type { AgentSettings } from './agent-settings.ts'
import type { AgentEvent, Journal } from './journal.ts'
import { submissionOf, type ReadSubmission } from './submission.ts'
import type { Transcript } from './transcript.ts'

/** What a claimed success is worth, held against what was done. */
export type Verification =
  | { kind: 'holds' }
  /** It names files that were not changed, beside others that were: taken for what was done, when it comes again. */
  | { kind: 'overstates'; reason: string; claimedUnchanged: readonly string[] }
  | { kind: 'fails'; code: ErrorCode; reason: string }

export type Submitter = {
  transcript: Pick<Transcript, 'addToolText'>
  journal: Pick<Journal, 'emit'>
  settings: Pick<AgentSettings, 'maxTurns' | 'verifyAttempts'>
  /** Asked of every submission that claims success; without it nothing is checked before the attempt is settled. */
  verify?: ((submission: Submission) => Promise<Verification>) | undefined
}

/**
 * A submission that ends the work, one that is off its schema, or one that is right in form and does not hold. The reason
 * is what the model was told.
 */
export type SubmissionAnswer =
  | { kind: 'accepted'; submission: Submission; claimedUnchanged: readonly string[] }
  | { kind: 'refused' | 'unverified'; code: ErrorCode; reason: string }

/** Where the loop stands: how many submissions did not hold before this one. */
export type SubmissionCount = { turn: number; unverifiedSubmissions: number }

/** Answers one `submit_result` call, in the conversation and as an event. */
export async function submit(run: Submitter, loop: SubmissionCount, call: RequestedCall): Promise<SubmissionAnswer> {
  const read = submissionOf(call)
  const answer = read.kind === 'valid' ? await verified(run, loop, read.submission) : read
  run.transcript.addToolText(call, wordsFor(answer, read))
  run.journal.emit(eventOf(loop.turn, call, { read, answer }))
  return answer
}

async function verified(run: Submitter, loop: SubmissionCount, submission: Submission): Promise<SubmissionAnswer> {
  const accepted = { kind: 'accepted' as const, submission, claimedUnchanged: [] }
  if (run.verify === undefined || submission.status !== 'success') return accepted
  const found = await run.verify(submission)
  if (found.kind === 'holds') return accepted
  if (found.kind === 'fails') return { kind: 'unverified', code: found.code, reason: found.reason }
  const { maxTurns, verifyAttempts } = run.settings
  const isLast = loop.turn >= maxTurns || loop.unverifiedSubmissions >= verifyAttempts
  if (isLast) return { ...accepted, claimedUnchanged: found.claimedUnchanged }
  return { kind: 'unverified', code: 'AGENT_005', reason: found.reason }
}

function wordsFor(answer: SubmissionAnswer, read: ReadSubmission): string {
  switch (answer.kind) {
    case 'accepted':
      return read.kind === 'valid' && read.statusGiven !== undefined
        ? `Submitted. The status ${JSON.stringify(read.statusGiven)} was taken as "${answer.submission.status}".`
        : 'Submitted.'
    case 'refused':
      return `Submission refused: ${answer.reason}`
    case 'unverified':
      return `Verification failed: ${answer.reason}`
  }
}

type Answered = { read: ReadSubmission; answer: SubmissionAnswer }

function eventOf(turn: number, call: RequestedCall, { read, answer }: Answered): AgentEvent {
  const flag = call.parsedFromContent === true ? { parsed_from_content: true } : {}
  const said = { turn, ...(read.kind === 'refused' ? {} : saidIn(read)), ...flag }
  const received = { event: 'submission.received', phase: 'submission' } as const
  if (answer.kind !== 'accepted') {
    return { ...received, status: 'error', errorCode: answer.code, data: { ...said, [answer.kind]: answer.reason } }
  }
  const { claimedUnchanged } = answer
  const differs = claimedUnchanged.length === 0 ? {} : { claimed_unchanged: [...claimedUnchanged] }
  return { ...received, data: { ...said, ...differs } }
}

function saidIn({ submission, statusGiven }: Extract<ReadSubmission, { kind: 'valid' }>) {
  const { status, summary } = submission
  return { status, ...(statusGiven === undefined ? {} : { status_given: statusGiven }), summary }
}
