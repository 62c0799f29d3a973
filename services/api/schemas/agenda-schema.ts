import { z } from 'zod'
import {
  AgendaItem,
  Criterion,
  ItemBudget,
  ItemCounts,
  ItemStatus,
  maxObjectiveCharacters,
  RunAnswer,
  Where,
} from '#domain/agenda.ts'
import { RunId } from '#domain/id-schemas.ts'
import { orNull, Time } from './wire-parts.ts'

/** Says what a run with an objective came to, in the words of its conductor. */
export const AnswerView = RunAnswer.extend({
  findings: z.array(RunAnswer.shape.findings.element.meta({ id: 'CitedFinding' })),
}).meta({
  id: 'RunAnswer',
  description: 'what the run came to; the events, files and findings that it cites exist',
})

const CriterionView = z
  .strictObject({
    kind: z.enum(Criterion.options.map(({ shape }) => shape.kind.value)).meta({ id: 'CriterionKind' }),
    least: z.int().optional(),
    text: z.string().optional(),
    met: z.boolean().nullable().meta({
      description:
        'null while that is not known, and of what a model judges; `tests_pass` and `proved_changes` are judged once more by what the run was composed to',
    }),
  })
  .meta({ id: 'SuccessCriterion', description: 'code checks each but `judged`' })
export type CriterionView = z.infer<typeof CriterionView>

const { reads: _, ended, faults, estimate, fault, ...counted } = ItemCounts.shape

const ItemCountsView = z
  .strictObject({
    ...counted,
    ended: ended.meta({ id: 'ItemEnds' }),
    faults: faults.meta({ id: 'ItemFaults', description: 'error codes of operations that failed or were blocked' }),
    estimate: orNull(estimate.unwrap().meta({ id: 'ItemEstimate' })),
    fault: orNull(fault.unwrap().meta({ id: 'ItemFault', description: 'why no operations can be made of it' })),
  })
  .meta({ id: 'ItemCounts', description: 'what became of its operations' })
export type ItemCountsView = z.infer<typeof ItemCountsView>

export const AgendaItemView = z
  .strictObject({
    ...AgendaItem.shape,
    where: Where.meta({ id: 'ItemWhere', description: 'narrows the nodes of the run; empty: all of them' }),
    success_criteria: z.array(CriterionView),
    budget: ItemBudget.meta({ id: 'ItemBudget' }),
    status: ItemStatus.meta({
      id: 'ItemStatus',
      description: '`stale`: a push has touched what it reads, so it is not done as it was planned',
    }),
    retries: z.int(),
    counts: orNull(ItemCountsView),
    decided_in: z.int().nullable().meta({ description: 'the number of the event of the decision that it comes from' }),
  })
  .meta({ id: 'AgendaItem' })
export type AgendaItemView = z.infer<typeof AgendaItemView>

export const decisionKinds = [
  'plan',
  'dispatch',
  'retry',
  'follow_up',
  'refine',
  'complete',
  'block',
  'invalid',
  'approve',
  'extend',
] as const

const CitedEvent = z.strictObject({ seq: z.int(), summary: z.string() }).meta({ id: 'CitedEvent' })

export const AgendaDecision = z
  .strictObject({
    seq: z.int(),
    follows_from: orNull(CitedEvent).meta({ description: 'what was heard or decided last before it' }),
    ts: Time,
    kind: z.enum(decisionKinds).meta({
      id: 'AgendaDecisionKind',
      description:
        '`plan`: the first one, of the items; `invalid`: what the model answered cannot be carried out; `approve`: a person has approved the plan; `extend`: a person has added to the objective',
    }),
    summary: z.string().meta({ description: 'the event in one sentence' }),
    item_ids: z.array(z.string()),
    plan_hash: z.string().nullable().meta({ description: 'of the plan as it was then' }),
    rationale: z.string().nullable(),
    confidence: z.number().nullable().meta({ description: 'as the model says it; nothing depends on it' }),
    cited: z.array(CitedEvent).meta({ description: 'the events that the rationale rests on' }),
    reason: z.string().nullable().meta({ description: 'why the run cannot go on, or what is wrong with the answer' }),
    given: z.string().nullable().meta({ description: 'of `invalid`: the beginning of what the model answered' }),
    model: z.string().nullable(),
    tokens: z.int().nullable(),
    decided_by: z.string().meta({ description: '`kind/id` of who decided' }),
  })
  .meta({ id: 'AgendaDecision' })
export type AgendaDecision = z.infer<typeof AgendaDecision>

const PlanApprovalView = z
  .strictObject({
    plan_hash: z.string().meta({ description: 'of the plan as it is now: a changed plan needs a new approval' }),
    wanted_since: Time,
    approved_at: Time.nullable(),
    approved_by: z.string().nullable(),
  })
  .meta({ id: 'PlanApproval' })

/** The plan of a run with an objective, what became of each item, and why it was planned so. */
export const RunAgenda = z
  .strictObject({
    run_id: RunId,
    objective: z.string().meta({ description: 'as it is now, with what was said since' }),
    approval: orNull(PlanApprovalView).meta({
      description: 'null of a run that asks for none, and before it is planned',
    }),
    items: z.array(AgendaItemView),
    decisions: z.array(AgendaDecision).meta({ description: 'in order' }),
    messages_waiting: z.int().meta({ description: 'that its conductor has not read yet' }),
    answer: orNull(AnswerView),
  })
  .meta({ id: 'Agenda' })
export type RunAgenda = z.infer<typeof RunAgenda>

/** Has what the conductor and its model said before a decision, in order. */
export const DecisionTalk = z
  .strictObject({
    seq: z.int(),
    messages: z
      .array(z.strictObject({ role: z.string(), text: z.string() }).meta({ id: 'DecisionMessage' }))
      .meta({ description: 'empty where the service keeps prompts to itself (`llm_log.include_full_prompts`)' }),
  })
  .meta({ id: 'DecisionTalk' })
export type DecisionTalk = z.infer<typeof DecisionTalk>

export const MessageBody = z
  .strictObject({ text: z.string().trim().min(1).max(maxObjectiveCharacters) })
  .meta({ id: 'MessageRequest' })

export const ApprovalBody = z.strictObject({ plan_hash: z.string().min(1).max(64) }).meta({ id: 'ApprovalRequest' })

export const SentToConductor = z.strictObject({ run_id: RunId, sent: z.literal(true) }).meta({ id: 'SentToConductor' })
