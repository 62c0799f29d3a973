import { z } from 'zod'
import { Evidence } from '#domain/evidence.ts'

/** One file of a run's composed patch, with the evidence checked again on the composed text. */
export const ComposedFile = z.strictObject({
  path: z.string(),
  /** null: the file is new. */
  baseHash: z.string().nullable(),
  /** null: the file is deleted. */
  resultHash: z.string().nullable(),
  changeSetIds: z.array(z.string()),
  evidence: z.array(Evidence),
})
export type ComposedFile = z.infer<typeof ComposedFile>

/** A change set left out of the patch, and why: never a silent overwrite. */
export const Conflict = z.strictObject({
  changeSetId: z.string(),
  operationId: z.string(),
  path: z.string(),
  errorCode: z.enum(['WORK_001', 'WORK_004']),
  reason: z.string(),
})
export type Conflict = z.infer<typeof Conflict>

/** What a run's change sets come to together. Stored before the run ends; the API builds the patch from it. */
export const Composition = z.strictObject({
  v: z.literal(1),
  runId: z.string(),
  of: z.literal('proposed'),
  files: z.array(ComposedFile),
  conflicts: z.array(Conflict),
})
export type Composition = z.infer<typeof Composition>
