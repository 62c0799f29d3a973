import { z } from 'zod'
import { Escalation } from '#domain/agenda.ts'
import { AppError, type ErrorCode, hasCode } from '#domain/error.ts'
import type { Event } from '#domain/event.ts'
import type { WatchWindow } from '#domain/events/watcher-events.ts'
import type { Run } from '#domain/run.ts'
import type { ModelSettings } from '#stages/operate/agent/agent-settings.ts'
import { askForSubmission, type Spending, type SubmissionAsker } from '#stages/operate/agent/typed-submission.ts'
import { type ReviewedRun, reviewPrompt, windowText } from './window-text.ts'

/** Is the `details` of a review's submission. */
const ReviewDetails = z.strictObject({ escalations: z.array(Escalation).max(5) })
type ReviewDetails = z.infer<typeof ReviewDetails>

/** `cost`: which model was asked, what, and for how many tokens. */
export type Review = { kind: 'reviewed'; summary: string; escalations: Escalation[]; cost: ReviewCost } | FailedReview
export type FailedReview = { kind: 'failed'; code: ErrorCode | undefined; reason: string; cost: Tokens }
type Tokens = ReturnType<Spending['cost']>
type ReviewCost = Tokens & { model: string; prompt_hash: string }

/** `asked` names the model of the role `watcher`, and how it is asked. */
export type Reviewer = { model: SubmissionAsker['model']; asked(signal: AbortSignal): Promise<ModelSettings> }

const limits = { maxTokens: 1_500, maxContextTokens: 16_000 }
const maxReason = 500

type Watched = {
  run: ReviewedRun & Pick<Run, 'projectId' | 'request'>
  window: WatchWindow
  events: readonly Event[]
  spending: Spending
}

/**
 * Has the model judge a window, with one correction of an answer that is not sound. Whatever keeps it from judging is the answer
 * `failed`; only an aborted signal and stores that are away throw.
 */
export async function reviewWindow(
  { model, asked }: Reviewer,
  { run, window, events, spending }: Watched,
  signal: AbortSignal,
): Promise<Review> {
  const message = windowText(run, window, events)
  const known = new Set<string>([
    run.runId,
    ...events.flatMap(({ operationId, data }) => [operationId ?? '', String(data['item_id'])]),
  ])
  const faults = async (given: ReviewDetails) => foreignIn(given, known)
  const question = { run, name: 'review', system: reviewPrompt, message, details: ReviewDetails, faults, limits }
  const failed = (code: ErrorCode | undefined, reason: string): FailedReview => ({
    kind: 'failed',
    code,
    reason: reason.slice(0, maxReason),
    cost: spending.cost(),
  })
  try {
    const { journal, budget } = spending
    const asker = { model, settings: await asked(signal), journal, budget }
    const { outcome, record } = await askForSubmission(question, asker, signal)
    if (outcome.kind === 'invalid') return failed(outcome.code, outcome.reason)
    const cost = { model: record.model, prompt_hash: record.promptHash, ...spending.cost() }
    return { kind: 'reviewed', summary: outcome.summary, ...outcome.details, cost }
  } catch (error) {
    signal.throwIfAborted()
    if (hasCode(error, 'STORE_001')) throw error
    const code = error instanceof AppError ? error.code : undefined
    return failed(code, String(error instanceof Error ? error.message : error))
  }
}

function foreignIn({ escalations }: ReviewDetails, known: ReadonlySet<string>): string[] {
  const foreign = escalations.flatMap(({ affected }) => affected).filter((id) => !known.has(id))
  return foreign.length === 0 ? [] : [`affected names what is not in the events: ${foreign.slice(0, 5).join(', ')}`]
}
