import { z } from 'zod'
import { AgendaItem, Rationale, RunAnswer } from '../agenda.ts'
import { ItemId } from '../id-schemas.ts'
import { event } from './event-row.ts'

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
