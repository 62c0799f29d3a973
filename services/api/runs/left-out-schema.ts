import { z } from '@hono/zod-openapi'
import { LineRange } from '#objects/composition.ts'
import { named } from '../http/named-schema.ts'

const lines = named('LineRange', LineRange, { description: 'lines of the file before the run, from 1, both included' })
const CodePlace = z.strictObject({ path: z.string(), qualified_name: z.string() }).openapi('CodePlace')

/** Agent, code and lines are absent for runs of earlier versions; lines also where no file is edited. */
const ConflictingSet = z.strictObject({
  change_set_id: z.string(),
  operation_id: z.string(),
  agent: z.string().optional(),
  node: CodePlace.optional(),
  lines: lines.optional(),
})

/** A change set that is not in the composed patch, why, and the change set that keeps it out, if it is one. */
export const LeftOut = z
  .strictObject({
    ...ConflictingSet.shape,
    path: z.string(),
    error_code: z.enum(['WORK_001', 'WORK_004']).openapi('ConflictCode'),
    reason: z.string(),
    with: ConflictingSet.openapi('ConflictingSet').optional(),
  })
  .openapi('LeftOut')
