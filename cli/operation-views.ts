import { z } from 'zod'
import { LeftOut, next, Time } from './run-views.ts'

export const OperationView = z.looseObject({
  operation_id: z.string(),
  agent: z.string(),
  status: z.string(),
  /** The operation that it does once more. */
  repeats: z.string().nullable().default(null),
  node: z.looseObject({ qualified_name: z.string(), path: z.string(), kind: z.string() }),
  outcome: z
    .looseObject({
      summary: z.string(),
      error_code: z.string().optional(),
      reason: z.string().optional(),
      change_set_id: z.string().optional(),
    })
    .nullable(),
})
export type OperationView = z.infer<typeof OperationView>

export const OperationPage = z.object({ operations: z.array(OperationView), next })

export const QuestionView = z.looseObject({
  request_id: z.string(),
  operation_id: z.string(),
  agent: z.string(),
  path: z.string(),
  qualified_name: z.string(),
  question: z.string(),
  choices: z.array(z.string()).nullable(),
  status: z.string(),
  asked_at: Time,
  expires_at: Time,
  answer: z.string().nullable(),
})
export type QuestionView = z.infer<typeof QuestionView>

export const QuestionPage = z.object({ questions: z.array(QuestionView), next })

/** What an agent claims about some lines of a file. */
export const FindingView = z.looseObject({
  claim: z.string(),
  path: z.string(),
  line: z.int(),
  end_line: z.int(),
  line_text: z.string(),
  severity: z.string(),
  confidence: z.number(),
  rule: z.string().nullable(),
  agent: z.string(),
  operation_id: z.string(),
  run_id: z.string(),
})
export type FindingView = z.infer<typeof FindingView>

export const FindingPage = z.object({ findings: z.array(FindingView), next })

/** The last decision on a change set. */
const DecisionView = z.looseObject({
  verdict: z.string(),
  version: z.int(),
  reason: z.string().nullable(),
  /** Of a set that was decided with another one: with which. */
  note: z.string().optional(),
  /** ISO 8601, not parsed. */
  decided_at: z.string(),
  decided_by: z.string(),
  decided_by_name: z.string().optional(),
})
export type DecisionView = z.infer<typeof DecisionView>

/** `eve (human/t0123)`, or the id alone of a token without a name. */
export function whoText({ decided_by: id, decided_by_name: name }: DecisionView): string {
  return name === undefined ? id : `${name} (${id})`
}

/** `: built on lint a.py f, which was rejected: too long`; empty where nothing is said. */
export function whyText(decision: Pick<DecisionView, 'reason' | 'note'> | null): string {
  return [decision?.note, decision?.reason].flatMap((part) => (part ? `: ${part}` : [])).join('')
}

/** A service of an earlier version knows no decisions. */
export const ChangeView = z.looseObject({
  change_set_id: z.string(),
  operation_id: z.string(),
  agent: z.string(),
  path: z.string().default(''),
  qualified_name: z.string().default(''),
  /** Of a mechanical operation: the lint rules whose safe fixes it makes. */
  rules: z.array(z.string()).default([]),
  /** Change sets that it needs, and those that need it. */
  built_on: z.array(z.string()).default([]),
  needed_by: z.array(z.string()).default([]),
  diff: z.string(),
  evidence: z
    .array(
      z.looseObject({
        check: z.string(),
        /** Of `not_checked`: the check that could not be made. */
        of: z.string().optional(),
        path: z.string(),
        ok: z.boolean(),
        detail: z.string().optional(),
      }),
    )
    .default([]),
  /** The run that made it. */
  run_id: z.string().default(''),
  /** Whether a later retry ran its operation again: it counts only if it is accepted. */
  is_redone: z.boolean().default(false),
  verdict: z.string().default('pending'),
  decision: DecisionView.nullable().default(null),
  conflict: LeftOut.optional(),
})
export type ChangeView = z.infer<typeof ChangeView>

/** Whether it counts, and git can apply it beside the others: what a later retry has made again only if it is accepted. */
export function isCurrent({ is_redone: isRedone, verdict }: Pick<ChangeView, 'is_redone' | 'verdict'>): boolean {
  return !isRedone || verdict === 'accepted'
}

export const ChangePage = z.object({ changes: z.array(ChangeView), next })

/** Absent: who made a change set that is not there. */
const RefusedDecision = z.looseObject({
  change_set_id: z.string(),
  operation_id: z.string().optional(),
  agent: z.string().optional(),
  path: z.string().optional(),
  qualified_name: z.string().optional(),
  error_code: z.string(),
  detail: z.string(),
  conflict: LeftOut.optional(),
  /** On the other set of the conflict. */
  with_decision: DecisionView.optional(),
  /** Sets in the way, the first 20: rejected ones that it is built on, or those that are built on it. */
  blocked_by: z.array(z.looseObject({ change_set_id: z.string() })).optional(),
  decision: DecisionView.optional(),
})
export type RefusedDecision = z.infer<typeof RefusedDecision>

/** What a request has refused; of a problem, all that it asked for. */
export const RefusedDecisions = z.looseObject({ refused_count: z.int(), refused: z.array(RefusedDecision) })

const DecidedSet = z.looseObject({
  change_set_id: z.string(),
  operation_id: z.string(),
  agent: z.string(),
  path: z.string(),
  qualified_name: z.string(),
  verdict: z.string(),
  /** By this request; else it was so before. */
  made: z.boolean(),
  was: z.string(),
  /** The set with which it was decided, since one is built on the other. */
  because_of: z.string().optional(),
  decision: DecisionView.nullable(),
})
export type DecidedSet = z.infer<typeof DecidedSet>

/** The run in which rejected operations are tried again; `run_id` is null until `retry_of` has ended. */
const RejectedRetry = z.looseObject({ retry_of: z.string(), run_id: z.string().nullable(), operations: z.int() })
export type RejectedRetry = z.infer<typeof RejectedRetry>

const DecidedCounts = z.object({ made: z.int(), before: z.int(), refused: z.int() })

/** What a request has decided: the first 1,000 sets, and the first 100 refusals. */
export const DecisionsView = RefusedDecisions.extend({
  run_id: z.string(),
  made: z.int(),
  by_agent: z.record(z.string(), DecidedCounts),
  decisions: z.array(DecidedSet),
  left_alone: z.int(),
  retry: RejectedRetry.nullish(),
})
export type DecisionsView = z.infer<typeof DecisionsView>
