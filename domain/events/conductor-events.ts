import { z } from 'zod'
import { AgendaItem, ItemId, Rationale, RunAnswer } from '../agenda.ts'

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

/** The events of the model that decides what a run does. */
export const conductorEvents = {
  'agenda.decided': {
    category: 'decision',
    about: 'A model has decided what the run does for its objective.',
    data: z.strictObject({ items: Items, plan_hash: z.string(), rationale: Rationale, ...evidence }),
  },
  'plan.approved': {
    category: 'decision',
    about: 'A person has approved the plan with this hash.',
    data: z.strictObject({ plan_hash: z.string(), by: z.string() }),
  },
  'conductor.decided': {
    category: 'decision',
    about:
      'A model has decided how the run goes on. `invalid`: what it answered, also after a correction, is no decision that can be carried out.',
    data: z.strictObject({
      kind: z.enum(['dispatch', 'retry', 'follow_up', 'complete', 'block', 'invalid']),
      item_ids: z.array(ItemId).optional(),
      items: Items.optional(),
      plan_hash: z.string().optional(),
      answer: RunAnswer.optional(),
      reason: z.string().optional(),
      given: z.string().optional(),
      rationale: Rationale.optional(),
      ...evidence,
    }),
  },
  'objective.refined': {
    category: 'decision',
    about: 'A model has taken what was said into the objective, and planned anew what had not begun.',
    data: z.strictObject({
      objective: z.string(),
      items: Items,
      plan_hash: z.string(),
      rationale: Rationale,
      ...evidence,
    }),
  },
} as const
