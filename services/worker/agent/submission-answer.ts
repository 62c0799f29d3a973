import type { ErrorCode } from '#domain/error.ts'
import type { RequestedCall, Submission } from '#domain/turn.ts'
import type { AgentEvent } from './journal.ts'
import { submissionOf, type ReadSubmission } from './submission.ts'

/**
 * A submission that ends the work, one that is off its schema, one whose evidence is not there, or one that claims more
 * than was done. The reason is what the model was told.
 */
export type SubmissionAnswer =
  | { kind: 'accepted'; submission: Submission; claimedUnchanged: readonly string[] }
  | { kind: 'refused' | 'unverified' | 'overstated'; code: ErrorCode; reason: string }

const unverifiedWords = 'Verification failed: '
const refusalWords = {
  refused: 'Submission refused: ',
  unverified: unverifiedWords,
  overstated: unverifiedWords,
} as const

/** What the model is told. */
export function wordsFor(answer: SubmissionAnswer, read: ReadSubmission): string {
  if (answer.kind !== 'accepted') return `${refusalWords[answer.kind]}${answer.reason}`
  return read.kind === 'valid' && read.statusGiven !== undefined
    ? `Submitted. The status ${JSON.stringify(read.statusGiven)} was taken as "${answer.submission.status}".`
    : 'Submitted.'
}

type Answered = { read: ReadSubmission; answer: SubmissionAnswer }

/** What is told of it as an event. */
export function submissionEvent(turn: number, call: RequestedCall, { read, answer }: Answered): AgentEvent {
  const said = saidIn(turn, call, read)
  const received = { event: 'submission.received', phase: 'submission' } as const
  if (answer.kind !== 'accepted') {
    const why = answer.kind === 'refused' ? 'refused' : 'unverified'
    return { ...received, status: 'error', errorCode: answer.code, data: { ...said, [why]: answer.reason } }
  }
  const { claimedUnchanged } = answer
  const differs = claimedUnchanged.length === 0 ? {} : { claimed_unchanged: [...claimedUnchanged] }
  return { ...received, data: { ...said, ...differs } }
}

/**
 * The event of a submission that was given back, out of its call and the words the model was told; undefined for other
 * words. Only the code of one that did not hold is not in them.
 */
export function retoldSubmission(turn: number, call: RequestedCall, words: string): AgentEvent | undefined {
  const read = submissionOf(call)
  if (read.kind === 'refused') return submissionEvent(turn, call, { read, answer: read })
  if (!words.startsWith(unverifiedWords)) return undefined
  const unverified = words.slice(unverifiedWords.length)
  const data = { ...saidIn(turn, call, read), unverified }
  return { event: 'submission.received', phase: 'submission', status: 'error', data }
}

function saidIn(turn: number, { parsedFromContent }: RequestedCall, read: ReadSubmission): Record<string, unknown> {
  const flag = parsedFromContent === true ? { parsed_from_content: true } : {}
  if (read.kind === 'refused') return { turn, ...flag }
  const { status, summary } = read.submission
  const given = read.statusGiven === undefined ? {} : { status_given: read.statusGiven }
  return { turn, status, ...given, summary, ...flag }
}
