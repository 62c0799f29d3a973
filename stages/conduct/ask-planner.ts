import { z } from 'zod'
import { clippedJson, sortedKeys } from '#domain/json.ts'
import { sha256 } from '#domain/ids.ts'
import { weightOf } from '#domain/run.ts'
import type { Submission } from '#domain/turn.ts'
import type { DecisionRecord } from '#store/objects/decision-record.ts'
import type { AgentSettings } from '#stages/operate/agent/agent-settings.ts'
import type { AskedModel } from '#stages/operate/agent/ask-model.ts'
import { journalOver } from '#stages/operate/agent/journal.ts'
import { firstMessages, openTranscript, type Transcript } from '#stages/operate/agent/open-transcript.ts'
import { type Ending, runAgent } from '#stages/operate/agent/run-agent.ts'
import type { ToolSet } from '#stages/operate/tools/tool-set.ts'
import type { PlannerDecision } from './decision-faults.ts'
import { decisionSchemas, decisionTool, plannerPrompts } from './planner-prompt.ts'
import type { Asked } from './planner-view.ts'

export type AskDeps = {
  model: Pick<AskedModel, 'complete' | 'contextTokens'>
  /** Names the model that decides, and how it is asked. */
  planner(signal: AbortSignal): Promise<Pick<AgentSettings, 'model' | 'temperature' | 'toolChoice'>>
}

type Question = Asked & {
  view: object
  heard: number
  /** Says what of a decision of the right form cannot be carried out. */
  faults(decision: PlannerDecision): Promise<string[]>
}

/** One reply, and one correction of it. */
const turns = { maxTurns: 2, verifyAttempts: 1 }
const mostTokens = 4_096
/** A reply may take so much of what a model can see: the rest is for the question. */
const replyShare = 1 / 3
const maxGivenCharacters = 4_000
const shownFaults = 10

/**
 * Asks the model for one decision, in the loop that every agent runs in. A decision that cannot be carried out is explained to it once. Throws
 * what the model pool throws when no server answers.
 */
export async function askPlanner(question: Question, deps: AskDeps, signal: AbortSignal): Promise<DecisionRecord> {
  const startedAt = Date.now()
  const definition = decisionTool(question.question)
  const { system, message } = plannerPrompts(question.question, question.view, new Date(startedAt))
  const transcript = openTranscript({ messages: firstMessages(system, message) })
  const given: { last: unknown; decision?: PlannerDecision } = { last: null }
  const verify = async ({ details }: Submission) => {
    given.last = details
    const read = await readDecision(question, details)
    if ('fault' in read) return { kind: 'fails' as const, code: 'POLICY_002' as const, reason: read.fault }
    given.decision = read.decision
    return { kind: 'holds' as const }
  }
  const how = await deps.planner(signal)
  const known = (await deps.model.contextTokens?.(how.model, signal)) ?? Infinity
  const maxTokens = Math.min(mostTokens, Math.floor(known * replyShare))
  const run = {
    transcript,
    tools: onlySubmits(definition),
    model: shared(question, deps),
    journal: journalOver(() => {}),
  }
  const ending = await runAgent({ ...run, settings: settingsFor(question, { ...how, maxTokens }), verify }, signal)
  return {
    v: 1,
    runId: question.run.runId,
    question: question.question,
    heard: question.heard,
    model: transcript.model === '' ? how.model : transcript.model,
    promptHash: sha256(JSON.stringify([system, message])),
    schemaHash: sha256(JSON.stringify(definition.parameters, sortedKeys)),
    startedAt,
    ...recorded(transcript),
    outcome: outcomeOf(ending, given, transcript),
  }
}

type Manner = Awaited<ReturnType<AskDeps['planner']>> & Pick<AgentSettings, 'maxTokens'>

function settingsFor({ question }: Question, how: Manner): AgentSettings {
  return {
    ...how,
    ...turns,
    gather: [],
    submitting: [],
    maxMessages: 10,
    maxContextTokens: 32_000,
    parallelTools: 1,
    parallelCalls: false,
    prefixKey: `conductor ${question}`,
  }
}

/** There is nothing to call but the submission, which the loop itself answers. */
function onlySubmits(definition: ReturnType<typeof decisionTool>): ToolSet {
  return { definitions: [definition], get: () => undefined }
}

/** Its requests share the servers with those of the run's operations. */
function shared({ run: { runId, projectId, request } }: Question, { model }: AskDeps): AskDeps['model'] {
  const share = { runId, projectId, weight: weightOf(request.priority) }
  return { ...model, complete: (asked, signal, progress) => model.complete({ ...asked, share }, signal, progress) }
}

type Read = { decision: PlannerDecision } | { fault: string }

async function readDecision({ question, faults }: Question, details: unknown): Promise<Read> {
  const parsed = decisionSchemas[question].safeParse(details)
  if (!parsed.success) return { fault: `details: ${z.prettifyError(parsed.error).slice(0, 2_000)}` }
  const found = await faults(parsed.data)
  return found.length === 0 ? { decision: parsed.data } : { fault: found.slice(0, shownFaults).join('; ') }
}

function recorded({ messages, replies, exchanges, usage }: Transcript) {
  return { messages: [...messages], replies: [...replies], exchanges: [...exchanges], usage: { ...usage } }
}

type Given = { last: unknown; decision?: PlannerDecision }

function outcomeOf(
  ending: Ending | { kind: 'suspended' },
  { last, decision }: Given,
  { messages }: Transcript,
): DecisionRecord['outcome'] {
  if (decision !== undefined && ending.kind === 'submitted') return { kind: 'decided', decision }
  const given = last ?? messages.findLast(({ role }) => role === 'assistant')
  return { kind: 'invalid', reason: reasonOf(ending), given: clippedJson(given, maxGivenCharacters) }
}

function reasonOf(ending: Ending | { kind: 'suspended' }): string {
  if (ending.kind === 'stopped') return ending.reason
  return ending.kind === 'submitted'
    ? `it submitted "${ending.submission.status}", which is no decision`
    : 'it asked a person'
}
