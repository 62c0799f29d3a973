import { RunAnswer } from '#domain/agenda.ts'
import type { Ask } from '#domain/ask.ts'
import { asAppError, type ErrorCode, hasCode, ModelUnavailable } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { AskId } from '#domain/id-schemas.ts'
import type { RunId } from '#domain/ids.ts'
import { clippedJson } from '#domain/json.ts'
import { type Run, roomOf } from '#domain/run.ts'
import type { Log } from '#platform/log.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ModelSettings } from '#stages/operate/agent/agent-settings.ts'
import { journalOver } from '#stages/operate/agent/journal.ts'
import { askForSubmission, type SubmissionAsker, type TypedSubmission } from '#stages/operate/agent/typed-submission.ts'
import { askMessage, askPrompt, type AskViewDeps } from './ask-view.ts'
import { type CiteDeps, citedIn } from './cited.ts'
import { answerFaults } from './decision-faults.ts'

export type AnswerDeps = AskViewDeps &
  CiteDeps & {
    ledger: Pick<Ledger, 'getRun' | 'readAsks' | 'endAsk' | 'whileAnswering' | 'countSpent'>
    model: SubmissionAsker['model']
    /** Names the model of the role `chat`, and how it is asked. */
    chat(signal: AbortSignal): Promise<ModelSettings>
    /** An ask waits so long for that model. */
    awayLimitMs: number
    origin: EventOrigin
    log: Pick<Log, 'warn'>
  }

type Asked = { run: Run; ask: Ask }
type Spent = { prompt_tokens: number; completion_tokens: number }

const limits = { maxTokens: 2_048, maxContextTokens: 32_000 }
const maxGivenCharacters = 4_000
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
  const spent: Spent = { prompt_tokens: 0, completion_tokens: 0 }
  try {
    await answered(asked, await submissionFor(asked, spent, deps, signal), spent, deps)
  } catch (error) {
    const fault = asAppError(error, 'TOOL_004')
    if (signal.aborted || !/^(?:AGENT|LIMIT)_/.test(fault.code)) throw fault
    deps.log.warn('what is asked about a run is not answered', { run_id: asked.run.runId, error: fault })
    if (fault instanceof ModelUnavailable && Date.now() - asked.ask.at < deps.awayLimitMs) return 'again'
    const code = fault.code === 'LIMIT_004' ? fault.code : 'POLICY_001'
    await failed(asked, { code, reason: fault.message }, spent, deps)
  }
  await countForDay(asked.run, deps)
  return 'over'
}

async function submissionFor(
  { run, ask }: Asked,
  spent: Spent,
  deps: AnswerDeps,
  signal: AbortSignal,
): Promise<TypedSubmission<RunAnswer>> {
  const faults = async (given: RunAnswer) =>
    answerFaults(given, { lastSeq: run.seq, ...(await citedIn(given, run, deps)) })
  const message = await askMessage(run, ask, deps)
  const question = { run, name: 'ask', system: askPrompt, message, details: RunAnswer, faults, limits }
  const journal = journalOver(({ event, data }) => {
    if (event !== 'model.responded') return
    spent.prompt_tokens += data.prompt_tokens ?? 0
    spent.completion_tokens += data.completion_tokens ?? 0
  })
  const room = roomOf(run)
  const budget = {
    isLimited: room !== Infinity,
    reserve: async (tokens: number) => tokens + spent.prompt_tokens + spent.completion_tokens <= room,
  }
  const asker = { model: deps.model, settings: await deps.chat(signal), journal, budget }
  return askForSubmission(question, asker, signal)
}

async function answered(
  asked: Asked,
  { outcome, record }: TypedSubmission<RunAnswer>,
  spent: Spent,
  deps: AnswerDeps,
): Promise<void> {
  if (outcome.kind === 'invalid') {
    const { reason } = outcome
    const given = clippedJson(outcome.given, maxGivenCharacters)
    return failed(asked, { code: 'POLICY_002', reason: `no valid answer: ${reason}`, given }, spent, deps)
  }
  const { details, model } = { details: outcome.details, model: record.model }
  const evidence = { prompt_hash: record.promptHash, schema_hash: record.schemaHash, requests: record.exchanges.length }
  const data = { ask_id: asked.ask.askId, answer: details, model, ...evidence, ...spent }
  const event = { event: 'ask.answered', ...headOf(asked, deps), data } as const
  await deps.ledger.endAsk(asked.run.runId, asked.ask.askId, {
    end: { kind: 'answered', answer: details, model },
    event,
  })
}

type Failure = { code: ErrorCode; reason: string; given?: string }

async function failed(asked: Asked, { code, ...failure }: Failure, spent: Spent, deps: AnswerDeps): Promise<void> {
  const { askId } = asked.ask
  const reason = failure.reason.slice(0, maxReason)
  const data = { ask_id: askId, error_code: code, ...failure, reason, ...spent }
  const event = { event: 'ask.failed', status: 'error', errorCode: code, ...headOf(asked, deps), data } as const
  await deps.ledger.endAsk(asked.run.runId, askId, { end: { kind: 'failed', code, reason }, event })
}

function headOf({ run, ask }: Asked, { origin }: Pick<AnswerDeps, 'origin'>) {
  return { phase: run.phase, origin, causationSeq: ask.seq }
}

/** The dispatcher counts what runs use while they go on; of those that have ended it is counted here. */
async function countForDay({ runId }: Run, { ledger }: AnswerDeps): Promise<void> {
  await ledger.countSpent(await ledger.getRun(runId), { nowMs: Date.now() })
}
