import { z } from 'zod'
import { Bootstrap, Decision, Refinement } from '#domain/agenda.ts'
import { RunId } from '#domain/ids.ts'
import { Message, TokenUsage } from '#domain/turn.ts'
import { Exchange } from './attempt-record.ts'
import { objectKeys } from './object-keys.ts'
import { runRecords } from './object-store.ts'

export const plannerQuestions = ['bootstrap', 'decide', 'refine'] as const
export type PlannerQuestion = (typeof plannerQuestions)[number]

/** Says what a model decided, or why its answer is no decision. `given`: the beginning of that answer, as JSON. */
const DecisionOutcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('decided'), decision: z.union([Bootstrap, Decision, Refinement]) }),
  z.strictObject({ kind: z.literal('invalid'), reason: z.string(), given: z.string() }),
])

/** Holds all of one decision about a run: stored before the ledger is told of it, so that nobody is asked twice. */
export const DecisionRecord = z.strictObject({
  v: z.literal(1),
  runId: RunId,
  question: z.enum(plannerQuestions),
  /** Counts the messages of the inbox that were known. */
  heard: z.int().min(0),
  model: z.string(),
  promptHash: z.string(),
  schemaHash: z.string(),
  startedAt: z.number(),
  messages: z.array(Message),
  replies: z.array(z.unknown()),
  exchanges: z.array(Exchange),
  usage: TokenUsage,
  outcome: DecisionOutcome,
})
export type DecisionRecord = z.infer<typeof DecisionRecord>

export const { put: putDecisionRecord, get: getDecisionRecord } = runRecords(objectKeys.decision, DecisionRecord)
