import { z } from 'zod'
import { ItemId } from '../id-schemas.ts'
import { EndStatus } from './run-events.ts'

const item_id = ItemId
const error_code = z.string()
const run_lifecycle = 'run_lifecycle'

/** The events of the items of an agenda, and of what people add to an objective, from the ledger. */
export const itemEvents = {
  'item.started': {
    category: run_lifecycle,
    about:
      'Its operations are planned, and the first of them may run. The commonest reasons of what is left out are named.',
    data: z.strictObject({
      item_id,
      capability: z.string(),
      operations: z.int(),
      generation: z.int(),
      /** Nodes that the capability looked at, and how many of these had no work, by reason. */
      looked_at: z.int(),
      skipped: z.array(z.strictObject({ reason: z.string(), count: z.int() })),
      beyond_limit: z.int(),
      notices: z.array(z.string()),
    }),
  },
  'item.ended': {
    category: run_lifecycle,
    about: 'All of its operations have ended: how, and with which error codes.',
    data: z.strictObject({
      item_id,
      operations: z.int(),
      counts: z.record(EndStatus, z.int()),
      change_sets: z.int(),
      findings: z.int(),
      tokens: z.int(),
      faults: z.record(z.string(), z.int()),
    }),
  },
  'item.blocked': {
    category: 'blocked',
    about: 'No operation can be made of it.',
    data: z.strictObject({ item_id, error_code, reason: z.string() }),
  },
  'objective.extended': {
    category: run_lifecycle,
    about: 'Somebody has added to the objective of the run.',
    data: z.strictObject({ text: z.string(), by: z.string() }),
  },
} as const
