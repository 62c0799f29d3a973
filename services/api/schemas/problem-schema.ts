import { z } from 'zod'
import { type ErrorCode, errorPolicies, isErrorCode } from '#domain/error.ts'
import { refusals } from './decision-schema.ts'
import { Time } from './wire-parts.ts'

/** The codes of docs/reference/errors.md. */
const ErrorCodeShape = z
  .custom<ErrorCode>(isErrorCode)
  .meta({ id: 'ErrorCode', type: 'string', enum: Object.keys(errorPolicies) })

/**
 * A problem (RFC 9457) with our error code. `run_id` is the run in the request's path, if there is one; `refused` is there when
 * all decisions of a request were refused, `taken_by` and `taken_at` with RUN_010.
 */
export const Problem = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    error_code: ErrorCodeShape,
    run_id: z.string().optional(),
    taken_by: z.string().optional().meta({ description: 'the id of a token' }),
    taken_at: Time.optional(),
    ...z.object(refusals).partial().shape,
  })
  .meta({ id: 'Problem' })
export type Problem = z.infer<typeof Problem>
