import { z } from 'zod'
import type { ErrorCode } from '#domain/error.ts'
import { sortedKeys } from '#domain/json.ts'
import { sha256 } from '#domain/ids.ts'
import { type Run, weightOf } from '#domain/run.ts'
import type { Submission, ToolDefinition } from '#domain/turn.ts'
import { submitToolName } from '#bundles/tool-definition.ts'
import type { DecisionRecord } from '#store/objects/decision-record.ts'
import type { AgentSettings, ModelSettings } from './agent-settings.ts'
import type { AskedModel } from './ask-model.ts'
import { type Journal, journalOver } from './journal.ts'
import { firstMessages, openTranscript, type Transcript } from './open-transcript.ts'
import { type Ending, runAgent, type Suspension } from './run-agent.ts'
import { type Reserving, reserveTokens } from './reserve-tokens.ts'
import type { Verification } from './submission.ts'

export type SubmissionQuestion<Details> = {
  /** Its requests share the servers with those of the run's operations. */
  run: Pick<Run, 'runId' | 'projectId' | 'request'>
  /** Names who asks, and what for: the requests of one name begin with the same text. */
  name: string
  system: string
  message: string
  /** The submission's `details` are held to this schema. */
  details: z.ZodType<Details>
  /** Says what of details of the right form cannot be taken. */
  faults(details: Details): Promise<readonly string[]>
  limits: Pick<AgentSettings, 'maxTokens' | 'maxContextTokens'>
}

export type SubmissionAsker = {
  model: Pick<AskedModel, 'complete' | 'contextTokens' | 'countPrompt'>
  /** Names the model, and how it is asked. */
  settings: ModelSettings
  /** Is told of each request and each answer, those before an error too. */
  journal?: Journal | undefined
  /** Bounds the tokens of the requests; they may take any number where it is absent or not limited. */
  budget?: Reserving['budget'] | undefined
}

/**
 * Counts what the answers to one question cost, those before an error too, and reserves for each request besides what they have cost: none of
 * that is counted before the commit of the question. `lacking`: the tokens of the request that did not fit.
 */
export function openSpending(
  { budget, day }: Pick<Run, 'budget' | 'day'>,
  reserve: (tokens: number) => Promise<'reserved' | 'full' | 'lost'>,
) {
  const used = { promptTokens: 0, completionTokens: 0 }
  const spending = {
    used,
    lacking: 0,
    cost: () => ({ prompt_tokens: used.promptTokens, completion_tokens: used.completionTokens }),
    journal: journalOver(({ event, data }) => {
      if (event !== 'model.responded') return
      used.promptTokens += data.prompt_tokens ?? 0
      used.completionTokens += data.completion_tokens ?? 0
    }),
    budget: {
      isLimited: budget !== null || day.granted !== null,
      async reserve(tokens: number): Promise<boolean> {
        const { promptTokens, completionTokens } = used
        const fits = (await reserve(promptTokens + completionTokens + tokens)) === 'reserved'
        spending.lacking = fits ? 0 : tokens
        return fits
      },
    },
  }
  return spending
}

export type Spending = ReturnType<typeof openSpending>

/** `given`: what was submitted last, or the last reply where nothing was. */
export type TypedSubmission<Details> = {
  outcome:
    | { kind: 'submitted'; details: Details; summary: string }
    | { kind: 'invalid'; code: ErrorCode; reason: string; given: unknown }
  record: Omit<DecisionRecord, 'v' | 'runId' | 'question' | 'heard' | 'outcome'>
}

/** One reply, and one correction of it. */
const turns = { maxTurns: 2, verifyAttempts: 1 }
/** A reply may take so much of what a model can see: the rest is for the question. */
const replyShare = 1 / 3
const shownFaults = 10
const maxFault = 2_000

/**
 * Asks the model for one typed submission, in the loop that every agent runs in, with nothing else to call. A submission that is not of the
 * schema, that `faults` objects to, or whose status is not "success" is explained to it once. Throws what the model pool throws when no
 * server answers, and LIMIT_004 when a request does not fit into the budget.
 */
export async function askForSubmission<Details>(
  question: SubmissionQuestion<Details>,
  { model, settings: how, journal = journalOver(() => {}), budget }: SubmissionAsker,
  signal: AbortSignal,
): Promise<TypedSubmission<Details>> {
  const startedAt = Date.now()
  const { run, system, message } = question
  const definition = submissionTool(question)
  const transcript = openTranscript({ messages: firstMessages(system, message) })
  const taken: { last?: unknown; details?: Details } = {}
  const verify = async (submission: Submission): Promise<Verification> => {
    taken.last = submission.details
    const read = await readSubmission(question, submission)
    if ('details' in read) taken.details = read.details
    return 'details' in read ? { kind: 'holds' } : { kind: 'fails', ...read }
  }
  const share = { runId: run.runId, projectId: run.projectId, weight: weightOf(run.request.priority) }
  const complete: AskedModel['complete'] = (request, ...rest) => model.complete({ ...request, share }, ...rest)
  const known = (await model.contextTokens?.(how.model, signal)) ?? Infinity
  const ending = await runAgent(
    {
      transcript,
      tools: { definitions: [definition], get: () => undefined }, // the loop itself answers a submission
      model: { ...model, complete },
      settings: settingsFor(question, how, Math.floor(known * replyShare)),
      journal,
      verify,
      ...(budget && { reserve: (request, stopped) => reserveTokens(request, { budget, model }, stopped) }),
    },
    signal,
  )
  const { messages, replies, exchanges, usage } = transcript
  return {
    outcome: outcomeOf(ending, taken, transcript),
    record: {
      model: transcript.model === '' ? how.model : transcript.model,
      promptHash: sha256(JSON.stringify([system, message])),
      schemaHash: sha256(JSON.stringify(definition.parameters, sortedKeys)),
      startedAt,
      messages: [...messages],
      replies: [...replies],
      exchanges: [...exchanges],
      usage: { ...usage },
    },
  }
}

function submissionTool({ name, details }: Pick<SubmissionQuestion<unknown>, 'name' | 'details'>): ToolDefinition {
  const { $schema: _, ...schema } = z.toJSONSchema(details, { io: 'input' })
  const properties = {
    status: { type: 'string', enum: ['success'] },
    summary: { type: 'string', description: 'It in one sentence.' },
    details: { ...schema, title: name },
  }
  const required = Object.keys(properties)
  const parameters = { type: 'object', properties, required, additionalProperties: false }
  return { name: submitToolName, description: 'Submit what you are asked for. Call it once.', parameters }
}

function settingsFor(
  { name, limits }: Pick<SubmissionQuestion<unknown>, 'name' | 'limits'>,
  how: ModelSettings,
  mostTokens: number,
): AgentSettings {
  return {
    ...how,
    ...turns,
    gather: [],
    submitting: [],
    maxMessages: 10,
    maxContextTokens: limits.maxContextTokens,
    maxTokens: Math.min(limits.maxTokens, mostTokens),
    parallelTools: 1,
    parallelCalls: false,
    prefixKey: name,
  }
}

type Read<Details> = { details: Details } | { code: ErrorCode; reason: string }

async function readSubmission<Details>(
  { details: schema, faults }: SubmissionQuestion<Details>,
  { status, summary, details }: Submission,
): Promise<Read<Details>> {
  if (status !== 'success')
    return { code: 'AGENT_011', reason: `status must be "success", not "${status}": ${summary}` }
  const parsed = schema.safeParse(details)
  if (!parsed.success)
    return { code: 'AGENT_005', reason: `details: ${z.prettifyError(parsed.error).slice(0, maxFault)}` }
  const found = await faults(parsed.data)
  return found.length === 0
    ? { details: parsed.data }
    : { code: 'AGENT_005', reason: found.slice(0, shownFaults).join('; ') }
}

function outcomeOf<Details>(
  ending: Ending | Suspension,
  { last, details }: { last?: unknown; details?: Details },
  { messages }: Transcript,
): TypedSubmission<Details>['outcome'] {
  if (ending.kind === 'submitted' && details !== undefined)
    return { kind: 'submitted', details, summary: ending.submission.summary }
  const given = last ?? messages.findLast(({ role }) => role === 'assistant')
  const { code, reason } =
    ending.kind === 'stopped' ? ending : { code: 'AGENT_005' as const, reason: 'it submitted nothing' }
  return { kind: 'invalid', code, reason, given }
}
