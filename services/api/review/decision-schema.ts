import { z } from '@hono/zod-openapi'
import { maxReasonCharacters, Verdict } from '#domain/decision.ts'
import { OperationId, RunId } from '#domain/ids.ts'
import { named, orNull, Time } from '../http/schema-parts.ts'
import { LeftOut } from '../runs/run-schema.ts'

export const VerdictShape = named('Verdict', Verdict)

/** The last decision on a change set. */
export const DecisionView = z
  .strictObject({
    verdict: VerdictShape,
    version: z.int().openapi({ description: 'number of its event; a decision on the set can name it' }),
    reason: z.string().nullable(),
    note: z.string().optional().openapi({ description: 'of a set that was decided with another one: with which' }),
    decided_at: Time,
    decided_by: z.string().openapi({ description: '`kind/id` of who decided' }),
    decided_by_name: z
      .string()
      .optional()
      .openapi({ description: 'what their token was called then, if it had a name' }),
  })
  .openapi('Decision')
export type DecisionView = z.infer<typeof DecisionView>

export const WantedVerdict = z.enum(['accept', 'reject', 'undo']).openapi('WantedVerdict', {
  description: '`undo`: the change set is pending again',
})
export type WantedVerdict = z.infer<typeof WantedVerdict>

export const Reason = z
  .string()
  .trim()
  .min(1)
  .max(maxReasonCharacters)
  .optional()
  .openapi({ description: 'why; without it, a decision that is the same otherwise changes nothing' })

export const RetryWanted = z.boolean().optional().openapi({
  description:
    'only with `reject` and a reason: the operation is tried again with it, in a run that starts when this one has ended',
})

/** The run in which rejected operations are tried again. */
const RejectedRetry = z
  .strictObject({
    retry_of: RunId,
    run_id: RunId.nullable().openapi({ description: 'null until it starts, when `retry_of` has ended' }),
    operations: z.int().openapi({ description: 'how many operations of this request it repeats' }),
  })
  .openapi('RejectedRetry')
export type RejectedRetry = z.infer<typeof RejectedRetry>

/** Who made a change set, and of which node. */
const author = {
  operation_id: OperationId,
  agent: z.string(),
  path: z.string().openapi({ description: 'of the node' }),
  qualified_name: z.string().openapi({ description: 'of the node' }),
}

/** A change set that was decided on, and how it stands now. */
const DecidedView = z
  .strictObject({
    change_set_id: z.string(),
    ...author,
    verdict: VerdictShape,
    made: z.boolean().openapi({ description: 'whether this request has decided it; else it was so before' }),
    was: VerdictShape,
    because_of: z.string().optional().openapi({
      description: 'the change set with which this one was decided, since one is built on the other',
    }),
    decision: orNull(DecisionView),
  })
  .openapi('DecidedSet', { description: 'How it stands now with a change set, and what it `was` before the request.' })

const SetInWay = z
  .strictObject({ change_set_id: z.string(), ...z.object(author).partial().shape, verdict: VerdictShape })
  .openapi('SetInWay')

/** Without an author for a change set that is not there. */
export const RefusedView = z
  .strictObject({
    change_set_id: z.string(),
    ...z.object(author).partial().shape,
    error_code: z.enum(['RUN_004', 'WORK_001', 'WORK_002', 'WORK_003', 'WORK_004', 'WORK_007']).openapi('RefusalCode'),
    detail: z.string(),
    conflict: LeftOut.optional(),
    with_decision: DecisionView.optional().openapi({
      description: 'of a conflict: the decision on the other set, whose `version` a request to take it back can name',
    }),
    blocked_by: z.array(SetInWay).optional().openapi({
      description: 'rejected sets that it is built on, or sets that are built on it; the first 20',
    }),
    blocked_by_count: z.int().optional(),
    decision: DecisionView.optional(),
  })
  .openapi('RefusedDecision', {
    description: 'A decision that is not made. `decision`, of WORK_003: what was decided meanwhile.',
  })
export type RefusedView = z.infer<typeof RefusedView>

/** What was refused: in the answer to a request, and in its problem where nothing else was left of it. */
export const refusals = {
  refused_count: z.int(),
  refused: z.array(RefusedView).openapi({ description: 'the first 100' }),
}

/** Of one agent's change sets: how many this request has decided, were so before, and were refused. */
const DecidedCounts = z
  .strictObject({ made: z.int(), before: z.int(), refused: z.int() })
  .openapi('DecidedCounts', { description: 'decided by this request; so before; refused' })
export type DecidedCounts = z.infer<typeof DecidedCounts>

/** What a request has decided. */
export const DecisionsView = z
  .strictObject({
    run_id: RunId,
    made: z.int().openapi({ description: 'how many decisions were made; the others were there before' }),
    by_agent: z.record(z.string(), DecidedCounts).openapi('DecidedByAgent'),
    decisions: z
      .array(DecidedView)
      .openapi({ description: 'how it stands now with each set that was not refused; the first 1,000' }),
    left_alone: z.int().openapi({
      description: 'how many sets that `where` has found stay as people have accepted or rejected them before',
    }),
    retry: orNull(RejectedRetry).openapi({
      description:
        'of a request with `retry`: null where nothing is tried again, since a program made the changes, or they were tried again since',
    }),
    ...refusals,
  })
  .openapi('Decisions')
export type DecisionsView = z.infer<typeof DecisionsView>
