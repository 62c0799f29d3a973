import { z } from '@hono/zod-openapi'
import { NodeId, OperationId } from '#domain/ids.ts'
import { Evidence } from '#domain/change-set.ts'
import { endpoint, jsonAnswer } from '../http/endpoint.ts'
import { Cursor, named, pageLimit } from '../http/schema-parts.ts'
import { LeftOut, RunParams } from '../runs/run-schema.ts'

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

/** A change set for review. `diff` shows bytes that are not UTF-8 as U+FFFD; the patch has the bytes themselves. */
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

/** `next` is the `cursor` of the next page; null on the last one. Other pages may be short or empty, too. */
const ChangePage = z.strictObject({ changes: z.array(ChangeView), next: z.string().nullable() }).openapi('ChangePage')

const PatchQuery = z.strictObject({
  of: z.literal('proposed', { error: 'only "proposed": accepted patches come with reviews' }).default('proposed'),
})

const ChangesQuery = z.strictObject({
  operation_id: OperationId.optional().openapi({
    description: 'only those of this operation, which may belong to an earlier run that this one retries',
  }),
  cursor: Cursor,
  limit: pageLimit(100, 20),
})

/** The change sets of a run and their composed patch. */
export const changeEndpoints = {
  list: endpoint('runs:read', ['RUN_001', 'RUN_004', 'RUN_005', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/changes',
    operationId: 'listChanges',
    summary: 'Its change sets, each with its diff and evidence, also those that were left out of the patch',
    description:
      'For reading: secrets in a diff are shown as `[secret]`, so that git does not apply it. The patch has the bytes.',
    request: { params: RunParams, query: ChangesQuery },
    responses: { 200: jsonAnswer('a page', ChangePage) },
  }),
  patch: endpoint('runs:read', ['RUN_001', 'RUN_005', 'RUN_006', 'RUN_007', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/patch',
    operationId: 'getPatch',
    summary: 'One diff of all its changes, for git apply',
    description:
      'The bytes of the repository, secrets that stand in them included. RUN_006 before the run is composed, RUN_007 when it ended before that (cancelled, failed): a retry makes a patch.',
    request: { params: RunParams, query: PatchQuery },
    responses: {
      200: { description: 'the patch', content: { 'text/x-diff': { schema: z.string() } } },
      204: { description: 'nothing changed' },
    },
  }),
} as const
