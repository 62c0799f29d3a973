import { z } from '@hono/zod-openapi'
import { Evidence } from '#domain/evidence.ts'
import { NodeId, OperationId } from '#domain/ids.ts'

/** A change set for review. `diff` is text: bytes that are no UTF-8 show as U+FFFD here, and as they are in the patch. */
export const ChangeView = z
  .strictObject({
    change_set_id: z.string(),
    operation_id: OperationId,
    agent: z.string(),
    node_id: NodeId,
    rules: z
      .array(z.string())
      .optional()
      .openapi({ description: 'the lint rules whose safe fixes it makes, of a mechanical operation' }),
    files: z.array(z.strictObject({ path: z.string(), kind: z.enum(['edit', 'create', 'delete']) })),
    diff: z.string(),
    evidence: z.array(Evidence),
    verdict: z.literal('pending'),
    conflict: z
      .strictObject({ error_code: z.enum(['WORK_001', 'WORK_004']), reason: z.string() })
      .optional()
      .openapi({ description: 'why it was left out of the composed patch' }),
  })
  .openapi('Change')
export type ChangeView = z.infer<typeof ChangeView>

/** `next` is the `cursor` of the next page; null on the last. A page may be short, or empty, and not the last. */
export const ChangePage = z
  .strictObject({ changes: z.array(ChangeView), next: z.string().nullable() })
  .openapi('ChangePage')
