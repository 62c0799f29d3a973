import { RunAnswer } from '#domain/agenda.ts'
import type { Ask } from '#domain/ask.ts'
import { asAppError, type ErrorCode, hasCode, ModelUnavailable } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { AskId } from '#domain/id-schemas.ts'
import type { RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Log } from '#platform/log.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ModelSettings } from '#stages/operate/agent/agent-settings.ts'
import {
  askForSubmission,
  openSpending,
  type Spending,
  type SubmissionAsker,
  type TypedSubmission,
} from '#stages/operate/agent/typed-submission.ts'
import { askMessage, askPrompt, type AskViewDeps } from './ask-view.ts'
import { type CiteDeps, citedIn } from './cited.ts'
import { answerFaults } from './decision-faults.ts'

export type AnswerDeps = AskViewDeps &
  CiteDeps & {
    ledger: Pick<Ledger, 'getRun' | 'readAsks' | 'endAsk' | 'whileAnswering' | 'reserve' | 'countSpent'>
    model: SubmissionAsker['model']
    /** Names the model of the role `chat`, and how it is asked. */
    chat(signal: AbortSignal): Promise<ModelSettings>
    /** An ask waits so long for that model. */
    awayLimitMs: number
    origin: EventOrigin
    log: Pick<Log, 'warn'>
  }

type Asked = { run: Run; ask: Ask }

const limits = { maxTokens: 2_048, maxContextTokens: 32_000 }
const maxReason = 500

/**
 * Answers what somebody asks about a run, from what has happened in it, whether it goes on or has ended. `again`: the model does not answer
 * yet, or another process answers an ask of the run.
 */
export async function answerAsk(
  runId: RunId,
  askId: AskId,
  deps: AnswerDeps,
  signal: AbortSignal,
): Promise<'over' | 'again'> {
  const answered = await deps.ledger
    .whileAnswering(runId, async (lost) => {
      const ask = (await deps.ledger.readAsks(runId)).find((one) => one.askId === askId)
      if (ask === undefined || ask.end !== null) return 'over'
      const asked = { run: await deps.ledger.getRun(runId), ask }
      return answer(asked, deps, AbortSignal.any([signal, lost]))
    })
    .catch((error: unknown) => {
      if (!hasCode(error, 'RUN_001')) throw error
      return 'over' as const // it was deleted
    })
  return answered ?? 'again'
}

async function answer(asked: Asked, deps: AnswerDeps, signal: AbortSignal): Promise<'over' | 'again'> {
  const { run, ask } = asked
  const spending = spendingOf(run, deps)
  const { used } = spending
  const head = { phase: run.phase, origin: deps.origin, causationSeq: ask.seq }
  const { askId: ask_id } = ask
  const fail = (code: ErrorCode, reason: string) => {
    const data = { ask_id, error_code: code, reason: reason.slice(0, maxReason), ...spending.cost() }
    return deps.ledger.endAsk(run.runId, { event: 'ask.failed', ...head, status: 'error', errorCode: code, data })
  }
  try {
    const { outcome, record } = await submissionFor(asked, spending, deps, signal)
    if (outcome.kind === 'invalid') await fail('POLICY_002', `no valid answer: ${outcome.reason}`)
    else {
      const { model, promptHash: prompt_hash, schemaHash: schema_hash } = record
      const data = { ask_id, answer: outcome.details, model, prompt_hash, schema_hash, ...spending.cost() }
      await deps.ledger.endAsk(run.runId, { event: 'ask.answered', ...head, data })
    }
  } catch (error) {
    const fault = asAppError(error, 'TOOL_004')
    if (signal.aborted || !/^(?:AGENT|LIMIT)_/.test(fault.code)) throw fault
    deps.log.warn('what is asked about a run is not answered', { run_id: run.runId, error: fault })
    const mayWait =
      fault instanceof ModelUnavailable && used.promptTokens === 0 && Date.now() - ask.at < deps.awayLimitMs
    if (mayWait) {
      await deps.ledger.reserve(run.runId, { of: 'ask', tokens: 0 })
      return 'again'
    }
    await fail(fault.code === 'LIMIT_004' ? fault.code : 'POLICY_001', fault.message)
  }
  // The dispatcher counts what runs use for the day of their project only while they go on.
  await deps.ledger.countSpent(await deps.ledger.getRun(run.runId), { nowMs: Date.now() })
  return 'over'
}

async function submissionFor(
  { run, ask }: Asked,
  { journal, budget }: Spending,
  deps: AnswerDeps,
  signal: AbortSignal,
): Promise<TypedSubmission<RunAnswer>> {
  const faults = async (given: RunAnswer) =>
    answerFaults(given, { lastSeq: run.seq, ...(await citedIn(given, run, deps)) })
  const message = await askMessage(run, ask, deps)
  const question = { run, name: 'ask', system: askPrompt, message, details: RunAnswer, faults, limits }
  const asker = { model: deps.model, settings: await deps.chat(signal), journal, budget }
  return askForSubmission(question, asker, signal)
}

/** A run that has ended, or is being stopped, has no part of its project's day any more: there may be used what nobody has. */
function spendingOf(run: Run, { ledger }: AnswerDeps): Spending {
  const { runId, budget } = run
  if (!isEnded(run.status) && run.stop === null)
    return openSpending(run, (tokens) => ledger.reserve(runId, { of: 'ask', tokens }))
  return openSpending({ ...run, budget: budget ?? Infinity }, async (tokens) => {
    const { used, limit, others } = await ledger.countSpent(run, { nowMs: Date.now() })
    const room = Math.min((budget ?? Infinity) - run.tokens, (limit ?? Infinity) - used - others)
    return tokens <= room ? 'reserved' : 'full'
  })
}
