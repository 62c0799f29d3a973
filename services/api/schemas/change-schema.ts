import { z } from 'zod'
import { Evidence } from '#domain/change-set.ts'
import { NodeId, OperationId } from '#domain/id-schemas.ts'
import { DecisionView, VerdictShape } from './decision-schema.ts'
import { LeftOut } from './run-schema.ts'
import { orNull } from './wire-parts.ts'

const { durationMs, ...evidence } = Evidence.shape
const ChangedFile = z
  .strictObject({ path: z.string(), kind: z.enum(['edit', 'create', 'delete']).meta({ id: 'FileChangeKind' }) })
  .meta({ id: 'ChangedFile' })

/** Says what was proved, or disproved, about one file of a change set. */
export const EvidenceView = z
  .strictObject({
    ...evidence,
    check: evidence.check.meta({ id: 'EvidenceCheck' }),
    of: evidence.of.unwrap().meta({ id: 'ProvableCheck' }).optional(),
    duration_ms: durationMs.meta({ description: 'of the programs that were run for it' }),
  })
  .meta({ id: 'Evidence' })

/** A change set for review. `diff` shows bytes that are not UTF-8 as U+FFFD; the patch has the bytes themselves. */
export const ChangeView = z
  .strictObject({
    change_set_id: z.string(),
    operation_id: OperationId,
    agent: z.string(),
    node_id: NodeId,
    path: z.string().meta({ description: 'of the node' }),
    qualified_name: z.string().meta({ description: 'of the node' }),
    rules: z
      .array(z.string())
      .meta({ description: 'the lint rules whose safe fixes it makes, of a mechanical operation' }),
    built_on: z.array(z.string()).meta({
      description:
        'the change sets that it needs: they changed what its operation worked on, and the diff has their part where it changes that',
    }),
    needed_by: z.array(z.string()).meta({ description: 'the change sets that are built on it' }),
    files: z.array(ChangedFile),
    diff: z.string(),
    evidence: z.array(EvidenceView),
    generation: z.int().meta({ description: 'of the run: in which it was made' }),
    is_redone: z.boolean().meta({
      description:
        'whether its operation was run again since, and has not made it again: it is in the proposed patch only if accepted',
    }),
    verdict: VerdictShape,
    decision: orNull(DecisionView).meta({ description: 'null where nobody has decided' }),
    conflict: LeftOut.optional(),
  })
  .meta({ id: 'Change' })
export type ChangeView = z.infer<typeof ChangeView>

/** `next` is the `cursor` of the next page; null on the last one. Other pages may be short or empty, too. */
export const ChangePage = z
  .strictObject({ changes: z.array(ChangeView), next: z.string().nullable() })
  .meta({ id: 'ChangePage' })
