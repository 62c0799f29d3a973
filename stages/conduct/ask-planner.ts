import type { z } from 'zod'
import { clippedJson } from '#domain/json.ts'
import type { DecisionRecord } from '#store/objects/decision-record.ts'
import type { ModelSettings } from '#stages/operate/agent/agent-settings.ts'
import { askForSubmission, type SubmissionAsker } from '#stages/operate/agent/typed-submission.ts'
import type { PlannerDecision } from './decision-faults.ts'
import { decisionSchemas, plannerPrompts } from './planner-prompt.ts'
import type { Asked } from './planner-view.ts'

export type AskDeps = {
  model: SubmissionAsker['model']
  /** Names the model that decides, and how it is asked. */
  planner(signal: AbortSignal): Promise<ModelSettings>
}

type Question = Asked & {
  view: object
  heard: number
  /** Says what of a decision of the right form cannot be carried out. */
  faults(decision: PlannerDecision): Promise<string[]>
}

const limits = { maxTokens: 4_096, maxContextTokens: 32_000 }
const maxGivenCharacters = 4_000

/**
 * Asks the model for one decision. One that cannot be carried out is explained to it once. Throws what the model pool throws when no server
 * answers.
 */
export async function askPlanner(question: Question, deps: AskDeps, signal: AbortSignal): Promise<DecisionRecord> {
  const { run, question: name, heard, view, faults } = question
  const details: z.ZodType<PlannerDecision> = decisionSchemas[name]
  const asked = { run, name, ...plannerPrompts(name, view, new Date()), details, faults, limits }
  const settings = await deps.planner(signal)
  const { outcome, record } = await askForSubmission(asked, { model: deps.model, settings }, signal)
  return {
    v: 1,
    runId: run.runId,
    question: name,
    heard,
    ...record,
    outcome:
      outcome.kind === 'submitted'
        ? { kind: 'decided', decision: outcome.details }
        : { kind: 'invalid', reason: outcome.reason, given: clippedJson(outcome.given, maxGivenCharacters) },
  }
}
