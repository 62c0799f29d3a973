import { z } from 'zod'
import { ProofState } from '#domain/change-set.ts'
import { maxReasonCharacters, Verdict } from '#domain/decision.ts'
import { OperationId, RunId } from '#domain/id-schemas.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { LeftOut } from './run-schema.ts'
import { orNull, Time } from './wire-parts.ts'

export const VerdictShape = Verdict.meta({ id: 'Verdict' })

/** The last decision on a change set. */
export const DecisionView = z
  .strictObject({
    verdict: VerdictShape,
    version: z.int().meta({ description: 'number of its event; a decision on the set can name it' }),
    reason: z.string().nullable(),
    note: z.string().optional().meta({ description: 'of a set that was decided with another one: with which' }),
    decided_at: Time,
    decided_by: z.string().meta({ description: '`kind/id` of who decided' }),
    decided_by_name: z.string().optional().meta({ description: 'what their token was called then, if it had a name' }),
  })
  .meta({ id: 'Decision' })
export type DecisionView = z.infer<typeof DecisionView>

export const WantedVerdict = z
  .enum(['accept', 'reject', 'undo'])
  .meta({ id: 'WantedVerdict', description: '`undo`: the change set is pending again' })
export type WantedVerdict = z.infer<typeof WantedVerdict>

const Reason = z
  .string()
  .trim()
  .min(1)
  .max(maxReasonCharacters)
  .optional()
  .meta({ description: 'why; without it, a decision that is the same otherwise changes nothing' })

const RetryWanted = z.boolean().optional().meta({
  description:
    'only with `reject` and a reason: the operation is tried again with it, in a run that starts when this one has ended',
})

/** The run in which rejected operations are tried again. */
export const RejectedRetry = z
  .strictObject({
    generation: z.int().nullable().meta({ description: 'of the run; null until it begins, when the run has ended' }),
    operations: z.int().meta({ description: 'how many operations of this request it repeats' }),
  })
  .meta({ id: 'RejectedRetry' })
export type RejectedRetry = z.infer<typeof RejectedRetry>

/** Says who made a change set, and of which node. */
const author = {
  operation_id: OperationId,
  agent: z.string(),
  path: z.string().meta({ description: 'of the node' }),
  qualified_name: z.string().meta({ description: 'of the node' }),
}

/** A change set that was decided on, and how it stands now. */
const DecidedView = z
  .strictObject({
    change_set_id: z.string(),
    ...author,
    verdict: VerdictShape,
    made: z.boolean().meta({ description: 'whether this request has decided it; else it was so before' }),
    was: VerdictShape,
    because_of: z.string().optional().meta({
      description: 'the change set with which this one was decided, since one is built on the other',
    }),
    decision: orNull(DecisionView),
  })
  .meta({
    id: 'DecidedSet',
    description: 'How it stands now with a change set, and what it `was` before the request.',
  })
export type DecidedView = z.infer<typeof DecidedView>

const SetInWay = z
  .strictObject({ change_set_id: z.string(), ...z.object(author).partial().shape, verdict: VerdictShape })
  .meta({ id: 'SetInWay' })

/** Has no author for a change set that is not there. */
export const RefusedView = z
  .strictObject({
    change_set_id: z.string(),
    ...z.object(author).partial().shape,
    error_code: z
      .enum(['RUN_004', 'WORK_001', 'WORK_002', 'WORK_003', 'WORK_004', 'WORK_007'])
      .meta({ id: 'RefusalCode' }),
    detail: z.string(),
    conflict: LeftOut.optional(),
    with_decision: DecisionView.optional(),
    blocked_by: z.array(SetInWay).optional().meta({
      description: 'rejected sets that it is built on, or sets that are built on it; the first 20',
    }),
    blocked_by_count: z.int().optional(),
    decision: DecisionView.optional(),
  })
  .meta({
    id: 'RefusedDecision',
    description:
      'A decision that is not made. `decision`, of WORK_003: what was decided meanwhile. `with_decision`, of a conflict: the decision on the other set, whose `version` a request to take it back can name.',
  })
export type RefusedView = z.infer<typeof RefusedView>

/** Says what was refused: in the answer to a request, and in its problem where nothing else was left of it. */
export const refusals = {
  refused_count: z.int(),
  refused: z.array(RefusedView).meta({ description: 'the first 100' }),
}

/** Counts the change sets of one agent that this request has decided, that were so before, and that were refused. */
export const DecidedCounts = z
  .strictObject({ made: z.int(), before: z.int(), refused: z.int() })
  .meta({ id: 'DecidedCounts', description: 'decided by this request; so before; refused' })
export type DecidedCounts = z.infer<typeof DecidedCounts>

export const DecisionsView = z
  .strictObject({
    run_id: RunId,
    made: z.int().meta({ description: 'how many decisions were made; the others were there before' }),
    by_agent: z.record(z.string(), DecidedCounts).meta({ id: 'DecidedByAgent' }),
    decisions: z
      .array(DecidedView)
      .meta({ description: 'how it stands now with each set that was not refused; the first 1,000' }),
    left_alone: z.int().meta({
      description: 'how many sets that `where` has found stay as people have accepted or rejected them before',
    }),
    retry: orNull(RejectedRetry).meta({
      description:
        'of a request with `retry`: null where nothing is tried again, since a program made the changes, or they were tried again since',
    }),
    ...refusals,
  })
  .meta({ id: 'Decisions' })
export type DecisionsView = z.infer<typeof DecisionsView>

/** Matches paths: a path, a folder or a pattern. */
export const PathPattern = z
  .string()
  .min(1)
  .max(1024)
  .refine((glob) => faultOfGlobs([glob]) === undefined, 'not a pattern of paths')

/** Chooses the change sets that meet all of it. */
export const ChangeFilter = z.strictObject({
  agent: z.string().min(1).max(64).optional(),
  path: PathPattern.optional().meta({
    description: 'a path, a folder or a pattern: one of the files that it changes',
  }),
  evidence: ProofState.meta({
    id: 'ProofState',
    description: 'every check that applies passed; one failed; or none failed and something was not checked',
  }).optional(),
  verdict: VerdictShape.optional(),
})
export type ChangeFilter = z.infer<typeof ChangeFilter>

const maxDecisions = 1_000

type Asked = { verdict?: WantedVerdict | undefined; reason?: string | undefined; retry?: boolean | undefined }
type AskedBody<One extends Asked> = Asked & { decisions?: readonly One[] | undefined }

/** Returns what is asked of each of the sets that are named: what is said beside it, else what the body says of all. */
export function askedOfEach<One extends Asked>({ decisions = [], ...all }: AskedBody<One>): One[] {
  return decisions.map((decision) => ({
    ...decision,
    verdict: decision.verdict ?? all.verdict,
    reason: decision.reason ?? all.reason,
    retry: decision.retry ?? all.retry,
  }))
}

function hasVerdicts<One extends Asked>({ decisions, ...all }: AskedBody<One>): boolean {
  const rows = decisions === undefined ? [all] : askedOfEach({ decisions, ...all })
  return rows.every(({ verdict }) => verdict !== undefined)
}

function mayAskForRetry<One extends Asked>({ decisions, ...all }: AskedBody<One>): boolean {
  const rows = decisions === undefined ? [all] : askedOfEach({ decisions, ...all })
  return rows.every(({ retry, verdict, reason }) => retry !== true || (verdict === 'reject' && reason !== undefined))
}

export const DecisionsBody = z
  .strictObject({
    decisions: z
      .array(
        z
          .strictObject({
            change_set_id: z.string().min(1).max(64),
            verdict: WantedVerdict.optional(),
            reason: Reason,
            retry: RetryWanted,
            version: z.int().min(0).optional().meta({
              description:
                'of the decision on the set that you have seen, 0 for none: WORK_003 when somebody has decided otherwise since',
            }),
          })
          .meta({ id: 'WantedDecision' }),
      )
      .min(1)
      .max(maxDecisions)
      .refine(
        (all) => new Set(all.map((decision) => decision.change_set_id)).size === all.length,
        'names a change set twice',
      )
      .optional(),
    where: ChangeFilter.meta({
      id: 'ChangeFilter',
      description: 'instead of `decisions`: all change sets that meet this, `{}` for all',
    }).optional(),
    also_decided: z.boolean().optional().meta({
      description: 'only with `where`: whether also what people have accepted or rejected before is decided anew',
    }),
    verdict: WantedVerdict.optional(),
    reason: Reason,
    with_dependents: z.boolean().optional().meta({
      description:
        'whether what is built on a set is rejected or taken back with it; without it, such a set is refused',
    }),
    all_or_none: z.boolean().optional().meta({
      description:
        'whether nothing is decided where one of the decisions is refused; INTAKE_003 for more than 500, with those that are made with them',
    }),
    retry: RetryWanted,
  })
  .refine(({ decisions, where }) => (decisions === undefined) !== (where === undefined), 'decisions or where')
  .refine((body) => body.also_decided === undefined || body.where !== undefined, 'also_decided belongs to where')
  .refine(hasVerdicts, 'verdict: of all, or of each of the decisions')
  .refine(mayAskForRetry, 'retry belongs to reject with a reason')
  .meta({
    id: 'DecisionsRequest',
    description:
      'Either `decisions`, or `where` with the `verdict` on all that it finds. `verdict`, `reason` and `retry` are those of each decision that says nothing else.',
  })
export type DecisionsBody = z.infer<typeof DecisionsBody>
