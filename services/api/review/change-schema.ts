import { z } from '@hono/zod-openapi'
import { Evidence } from '#domain/evidence.ts'
import { NodeId, OperationId } from '#domain/ids.ts'
import { named } from '../http/named-schema.ts'
import { LeftOut } from '../runs/left-out-schema.ts'

const evidence = Evidence.shape
const ChangedFile = z
  .strictObject({ path: z.string(), kind: z.enum(['edit', 'create', 'delete']).openapi('FileChangeKind') })
  .openapi('ChangedFile')

/** What was proved, or disproved, about one file of a change set. */
export const EvidenceView = z
  .strictObject({
    ...evidence,
    check: named('EvidenceCheck', evidence.check),
    of: named('ProvableCheck', evidence.of.unwrap()).optional(),
  })
  .openapi('Evidence')

/** A change set for review. `diff` is text: bytes that are no UTF-8 show as U+FFFD here, and as they are in the patch. */
export const ChangeView = z
  .strictObject({
    change_set_id: z.string(),
    operation_id: OperationId,
    agent: z.string(),
    node_id: NodeId,
    path: z.string().openapi({ description: 'of the node' }),
    qualified_name: z.string().openapi({ description: 'of the node' }),
    rules: z
      .array(z.string())
      .optional()
      .openapi({ description: 'the lint rules whose safe fixes it makes, of a mechanical operation' }),
    files: z.array(ChangedFile),
    diff: z.string(),
    evidence: z.array(EvidenceView),
    verdict: z.literal('pending'),
    conflict: LeftOut.optional(),
  })
  .openapi('Change')
export type ChangeView = z.infer<typeof ChangeView>

/** `next` is the `cursor` of the next page; null on the last. A page may be short, or empty, and not the last. */
export const ChangePage = z
  .strictObject({ changes: z.array(ChangeView), next: z.string().nullable() })
  .openapi('ChangePage')
