import { z } from 'zod'
import { ItemId } from '../id-schemas.ts'
import { event } from './event-row.ts'
import { EndStatus } from './run-events.ts'

const item_id = ItemId
const run_lifecycle = 'run_lifecycle'

/** The events of the items of an agenda, and of what people add to an objective, from the ledger. */
export const itemEvents = {
  'item.started': event(
    run_lifecycle,
    'Its operations are planned, and may run. The commonest reasons why nodes that it looked at have none are named.',
    {
      item_id,
      capability: z.string(),
      operations: z.int(),
      generation: z.int(),
      looked_at: z.int(),
      skipped: z.array(z.strictObject({ reason: z.string(), count: z.int() })),
      left: z.int(),
      notices: z.array(z.string()),
    },
  ),
  'item.ended': event(run_lifecycle, 'All of its operations have ended: how, and with which error codes.', {
    item_id,
    operations: z.int(),
    counts: z.record(EndStatus, z.int()),
    change_sets: z.int(),
    findings: z.int(),
    tokens: z.int(),
    left: z.int(),
    faults: z.record(z.string(), z.int()),
  }),
  'item.blocked': event('blocked', 'No operation can be made of it.', {
    item_id,
    error_code: z.string(),
    reason: z.string(),
  }),
  'objective.extended': event(run_lifecycle, 'Somebody has added to the objective of the run.', {
    text: z.string(),
    by: z.string(),
  }),
} as const
