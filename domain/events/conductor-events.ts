import { z } from 'zod'
import { AgendaItem, Rationale, RunAnswer } from '../agenda.ts'
import { ItemId } from '../id-schemas.ts'
import { event } from './event-row.ts'
import { EndStatus } from './run-events.ts'

/** The model that decided, what it was asked for, and the record of all that was said (store/objects/decision-record.ts). */
const evidence = {
  model: z.string(),
  prompt_hash: z.string(),
  schema_hash: z.string(),
  record_hash: z.string(),
  requests: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
}

const Items = z.array(AgendaItem)
const decided = { plan_hash: z.string(), rationale: Rationale, ...evidence }

/** The events of the model that decides what a run does. */
export const conductorEvents = {
  'agenda.decided': event('decision', 'A model has decided what the run does for its objective.', {
    items: Items,
    ...decided,
  }),
  'plan.approved': event('decision', 'A person has approved the plan with this hash.', {
    plan_hash: z.string(),
    by: z.string(),
  }),
  'conductor.decided': event(
    'decision',
    'A model has decided how the run goes on. `invalid`: what it answered, also after a correction, is no decision that can be carried out.',
    {
      kind: z.enum(['dispatch', 'retry', 'follow_up', 'complete', 'block', 'invalid']),
      item_ids: z.array(ItemId).optional(),
      items: Items.optional(),
      plan_hash: z.string().optional(),
      answer: RunAnswer.optional(),
      reason: z.string().optional(),
      given: z.string().optional(),
      rationale: Rationale.optional(),
      ...evidence,
    },
  ),
  'conductor.failed': event(
    'failed',
    'A decision was not made to its end. It is asked for anew, and what it has cost counts.',
    {
      error_code: z.string(),
      reason: z.string(),
      prompt_tokens: z.int(),
      completion_tokens: z.int(),
    },
  ),
  'objective.refined': event(
    'decision',
    'A model has taken what was said into the objective, and planned anew what had not begun.',
    { objective: z.string(), items: Items, ...decided },
  ),
} as const

/** The events of the items of an agenda, and of what people add to an objective, from the ledger. */
export const itemEvents = {
  'item.started': event(
    'run_lifecycle',
    'Its operations are planned, and may run. The commonest reasons why nodes that it looked at have none are named.',
    {
      item_id: ItemId,
      capability: z.string(),
      operations: z.int(),
      generation: z.int(),
      looked_at: z.int(),
      skipped: z.array(z.strictObject({ reason: z.string(), count: z.int() })),
      left: z.int(),
      notices: z.array(z.string()),
    },
  ),
  'item.ended': event('run_lifecycle', 'All of its operations have ended: how, and with which error codes.', {
    item_id: ItemId,
    operations: z.int(),
    counts: z.record(EndStatus, z.int()),
    change_sets: z.int(),
    findings: z.int(),
    tokens: z.int(),
    left: z.int(),
    faults: z.record(z.string(), z.int()),
  }),
  'item.blocked': event('blocked', 'No operation can be made of it.', {
    item_id: ItemId,
    error_code: z.string(),
    reason: z.string(),
  }),
  'items.stale': event(
    'run_lifecycle',
    'The branch of a run whose plan waits for an approval has this commit now. What it has changed is read by these items: they are not done as planned.',
    { item_ids: z.array(ItemId), paths: z.array(z.string()), commit: z.string() },
  ),
  'objective.extended': event('run_lifecycle', 'Somebody has added to the objective of the run.', {
    text: z.string(),
    by: z.string(),
  }),
} as const
