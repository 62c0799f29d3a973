import { z } from 'zod'
import { OperationId, RunId } from '#domain/id-schemas.ts'
import { BudgetTokens, WantedWork } from '#domain/run.ts'
import { ErrorPolicyShape, RunLinks, RunStatusShape } from './run-schema.ts'

export const CancelBody = z
  .strictObject({ reason: z.string().min(1).max(500).default('cancelled by its user') })
  .meta({ id: 'CancelRequest' })
export const RetryBody = z
  .strictObject({
    operations: z.array(OperationId).min(1).max(1000).optional(),
    codes: WantedWork.shape.codes.meta({ description: 'instead of `operations`: what failed with one of these codes' }),
    rejected: z.literal(true).optional().meta({
      description: 'instead of both: what was rejected with a reason, which the agents are told',
    }),
    error_policy: ErrorPolicyShape.optional(),
  })
  .refine(
    ({ operations, codes, rejected }) =>
      [operations, codes, rejected].filter((choice) => choice !== undefined).length <= 1,
    'operations, codes or rejected: only one',
  )
  .meta({ id: 'RetryRequest' })
export type RetryBody = z.infer<typeof RetryBody>

export const BudgetBody = z
  .strictObject({ tokens: BudgetTokens.nullable().meta({ description: 'null: any number' }) })
  .meta({ id: 'BudgetRequest' })

export const Cancelled = z
  .strictObject({ run_id: RunId, status: RunStatusShape, cancel_requested: z.literal(true), links: RunLinks })
  .meta({ id: 'RunCancelled' })
export const Retried = z
  .strictObject({ run_id: RunId, status: RunStatusShape, generation: z.int(), links: RunLinks })
  .meta({ id: 'RunRetried' })

export const Deleting = z.strictObject({ run_id: RunId, deleting: z.literal(true) }).meta({ id: 'RunDeleting' })
