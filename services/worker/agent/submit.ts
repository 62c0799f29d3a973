import type { ErrorCode } from '#domain/error.ts'
import type { RequestedCall, Submission } from '#domain/turn.ts'
import type { AgentSettings } from './agent-settings.ts'
import type { Journal } from './journal.ts'
import { submissionOf } from './submission.ts'
import { submissionEvent, wordsFor, type SubmissionAnswer } from './submission-answer.ts'
import type { Transcript } from './transcript.ts'

/** What a claimed success is worth, held against what was done. */
export type Verification =
  | { kind: 'holds' }
  /** It names files that were not changed: told once, then taken for what was done, be it nothing. */
  | { kind: 'overstates'; reason: string; claimedUnchanged: readonly string[] }
  | { kind: 'fails'; code: ErrorCode; reason: string }

export type Submitter = {
  transcript: Pick<Transcript, 'addToolText'>
  journal: Pick<Journal, 'emit'>
  settings: Pick<AgentSettings, 'maxTurns' | 'verifyAttempts'>
  /**
   * Asked of every submission that claims success; without it nothing is checked before the attempt is settled. Throws what
   * aborts the signal.
   */
  verify?: ((submission: Submission, signal: AbortSignal) => Promise<Verification>) | undefined
}

/** Where the loop stands: how many submissions claimed more than was done before this one. */
export type SubmissionCount = { turn: number; overstatedSubmissions: number }

/** Answers one `submit_result` call, in the conversation and as an event. */
export async function submit(
  run: Submitter,
  { turn, overstatedSubmissions }: SubmissionCount,
  call: RequestedCall,
  signal: AbortSignal,
): Promise<SubmissionAnswer> {
  const read = submissionOf(call)
  const { maxTurns, verifyAttempts } = run.settings
  const isLast = turn >= maxTurns || verifyAttempts === 0 || overstatedSubmissions > 0
  const answer = read.kind === 'valid' ? await verified(run, read.submission, { isLast, signal }) : read
  run.transcript.addToolText(call, wordsFor(answer, read))
  run.journal.emit(submissionEvent(turn, call, { read, answer }))
  return answer
}

async function verified(
  run: Submitter,
  submission: Submission,
  { isLast, signal }: { isLast: boolean; signal: AbortSignal },
): Promise<SubmissionAnswer> {
  const accepted = { kind: 'accepted' as const, submission, claimedUnchanged: [] }
  if (run.verify === undefined || submission.status !== 'success') return accepted
  const found = await run.verify(submission, signal)
  if (found.kind === 'holds') return accepted
  if (found.kind === 'fails') return { kind: 'unverified', code: found.code, reason: found.reason }
  if (isLast) return { ...accepted, claimedUnchanged: found.claimedUnchanged }
  return { kind: 'overstated', code: 'AGENT_005', reason: found.reason }
}
