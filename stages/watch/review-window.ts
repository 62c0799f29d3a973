import { z } from 'zod'
import { Escalation } from '#domain/agenda.ts'
import { AppError, type ErrorCode, hasCode } from '#domain/error.ts'
import type { Event } from '#domain/event.ts'
import type { WatchWindow } from '#domain/events/watcher-events.ts'
import { sha256 } from '#domain/ids.ts'
import { type Run, weightOf } from '#domain/run.ts'
import type { ToolDefinition } from '#domain/turn.ts'
import { submitTool } from '#bundles/tool-definition.ts'
import type { AskedModel } from '#stages/operate/agent/ask-model.ts'
import type { AgentSettings, ModelSettings } from '#stages/operate/agent/agent-settings.ts'
import { journalOver } from '#stages/operate/agent/journal.ts'
import { firstMessages, openTranscript } from '#stages/operate/agent/open-transcript.ts'
import { runAgent } from '#stages/operate/agent/run-agent.ts'
import type { Verification } from '#stages/operate/agent/submission.ts'
import { type ReviewedRun, reviewPrompt, windowText } from './window-text.ts'

/** Is the `details` of a review's submission. */
const ReviewDetails = z.strictObject({ escalations: z.array(Escalation).max(5) })

/** `cost`: which model was asked, what, and for how many tokens. */
export type Review = { kind: 'reviewed'; summary: string; escalations: Escalation[]; cost: ReviewCost } | FailedReview
export type FailedReview = { kind: 'failed'; code: ErrorCode | undefined; reason: string }
type ReviewCost = { model: string; prompt_hash: string; prompt_tokens: number; completion_tokens: number }

/** `asked` names the model of the role `watcher`, and how it is asked. */
export type Reviewer = { model: AskedModel; asked(signal: AbortSignal): Promise<ModelSettings> }

const { $schema: _, ...details } = z.toJSONSchema(ReviewDetails, { io: 'input' })
const { status, summary } = z.record(z.string(), z.unknown()).parse(submitTool.parameters['properties'])

const reviewTool: ToolDefinition = {
  name: submitTool.name,
  description: 'Submit your judgement of the events. Call it once.',
  parameters: {
    type: 'object',
    properties: { status, summary, details },
    required: ['status', 'summary', 'details'],
    additionalProperties: false,
  },
}
const definitions = [reviewTool]

const limits: Omit<AgentSettings, keyof ModelSettings> = {
  maxTokens: 1_500,
  maxTurns: 2,
  gather: [],
  submitting: [],
  maxMessages: 8,
  maxContextTokens: 16_000,
  parallelTools: 1,
  verifyAttempts: 1,
  parallelCalls: false,
  constraint: 'none',
  prefixKey: 'watcher',
}

const maxReason = 500

/**
 * Has the model judge a window, with one correction of an answer that is not sound. Whatever keeps it from judging is the answer
 * `failed`; only an aborted signal and stores that are away throw.
 */
export async function reviewWindow(
  { model, asked }: Reviewer,
  {
    run,
    window,
    events,
  }: { run: ReviewedRun & Pick<Run, 'projectId' | 'request'>; window: WatchWindow; events: readonly Event[] },
  signal: AbortSignal,
): Promise<Review> {
  const text = windowText(run, window, events)
  const transcript = openTranscript({ messages: firstMessages(reviewPrompt, text) })
  const known = new Set<string>([
    run.runId,
    ...events.flatMap(({ operationId, data }) => [operationId ?? '', String(data['item_id'])]),
  ])
  try {
    const share = { projectId: run.projectId, runId: run.runId, weight: weightOf(run.request.priority) }
    const shared: AskedModel = {
      ...model,
      complete: (request, ...rest) => model.complete({ ...request, share }, ...rest),
    }
    const settings = { ...limits, ...(await asked(signal)) }
    const journal = journalOver(() => {}) // the run has one event of each review
    const tools = { definitions, get: () => undefined }
    const verify = async ({ details: given }: { details: unknown }) => faultOf(given, known)
    const ending = await runAgent({ transcript, tools, model: shared, settings, journal, verify }, signal)
    if (ending.kind !== 'submitted') {
      const { code, reason } = ending.kind === 'stopped' ? ending : { code: undefined, reason: 'it asked a person' }
      return { kind: 'failed', code, reason: reason.slice(0, maxReason) }
    }
    const { status: said, summary: short, details: given } = ending.submission
    if (said !== 'success') return { kind: 'failed', code: 'AGENT_011', reason: short.slice(0, maxReason) }
    const { promptTokens, completionTokens } = transcript.usage
    const cost = {
      model: transcript.model,
      prompt_hash: sha256(`${reviewPrompt}\n${text}`),
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
    }
    return { kind: 'reviewed', summary: short, ...ReviewDetails.parse(given), cost }
  } catch (error) {
    signal.throwIfAborted()
    if (hasCode(error, 'STORE_001')) throw error
    const code = error instanceof AppError ? error.code : undefined
    return { kind: 'failed', code, reason: String(error instanceof Error ? error.message : error).slice(0, maxReason) }
  }
}

function faultOf(given: unknown, known: ReadonlySet<string>): Verification {
  const read = ReviewDetails.safeParse(given)
  if (!read.success) return { kind: 'fails', code: 'AGENT_005', reason: z.prettifyError(read.error) }
  const foreign = read.data.escalations.flatMap(({ affected }) => affected).filter((id) => !known.has(id))
  if (foreign.length === 0) return { kind: 'holds' }
  const reason = `affected names what is not in the events: ${foreign.slice(0, 5).join(', ')}`
  return { kind: 'fails', code: 'AGENT_005', reason }
}
