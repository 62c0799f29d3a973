import { z } from '@hono/zod-openapi'
import { NodeKind } from '#domain/code-node.ts'
import { EdgeCertainty, EdgeDirection, EdgeEnd, EdgeKind } from '#domain/edge.ts'
import { NodeId, OperationId } from '#domain/ids.ts'
import { NodeView } from '#domain/node-view.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { languages } from '#syntax/grammars.ts'
import { named, orNull } from '../http/named-schema.ts'
import { OperationStatusShape, SkippedFileShape } from './run-schema.ts'

/** What discovery calls the language of a file that it knows no grammar for. */
const unknownLanguage = 'unknown'

/** A named piece of source; lines are 1-based and inclusive, bytes 0-based with the end exclusive. */
export const NodeShape = z.strictObject(NodeView.shape).openapi('Node')

/** Which nodes of a run. A language there is none of is refused; a kind may be any, since packs bring their own. */
export const NodeFilter = {
  kind: NodeKind.max(64).optional().openapi({ description: 'only these, such as `function`' }),
  language: z
    .string()
    .refine((name) => name === unknownLanguage || languages.includes(name), {
      error: () => `unknown language; known: ${[...languages, unknownLanguage].join(', ')}`,
    })
    .optional()
    .openapi({ description: 'one that Remora has a grammar for, or `unknown`' }),
  path: z
    .string()
    .min(1)
    .max(1024)
    .superRefine((glob, context) => {
      const fault = faultOfGlobs([glob])
      if (fault !== undefined) context.addIssue(fault)
    })
    .optional()
    .openapi({ description: 'a file, a folder, or a glob' }),
}

const SkippedFiles = z
  .strictObject({ count: z.int(), files: z.array(SkippedFileShape) })
  .openapi('SkippedFiles', { description: 'what discovery passed over; the first 1,000 files, sorted by path' })

/** Sorted by path, then start byte. `next` is the `cursor` of the next page; null on the last. */
export const NodePage = z
  .strictObject({
    nodes: z.array(NodeShape),
    next: z
      .string()
      .nullable()
      .openapi({ description: 'null on the last page; a page before may have few nodes or none' }),
    complete: z
      .boolean()
      .openapi({ description: 'false while discovery is not done, and for ever if it was never done' }),
    skipped: SkippedFiles.optional(), // on the first page
  })
  .openapi('NodePage')
export type NodePage = z.infer<typeof NodePage>

const end = EdgeEnd.shape

const EdgeDirectionShape = named('EdgeDirection', EdgeDirection, {
  description: '`out`: the node needs the other one; `in`: the other needs it',
})
const EdgeKindShape = named('EdgeKind', EdgeKind)
const EdgeCertaintyShape = named('EdgeCertainty', EdgeCertainty, {
  description: "`exact`: by the language's own rules; `by_name`: nothing else in the repository has that name",
})
const EdgeNode = z
  .strictObject({
    node_id: end.nodeId,
    kind: end.kind,
    qualified_name: end.qualifiedName,
    path: z.string(),
    start_line: end.startLine,
    end_line: end.endLine,
  })
  .openapi('EdgeNode', { description: 'the node at the other end of an edge' })

/** An edge as the node it was asked of sees it. */
const EdgeShape = z
  .strictObject({
    direction: EdgeDirectionShape,
    kind: EdgeKindShape,
    certainty: EdgeCertaintyShape,
    node: EdgeNode,
  })
  .openapi('Edge')
export type EdgeShape = z.infer<typeof EdgeShape>

/** Those that go out first, each direction sorted by the path and place of the other node. */
export const EdgePage = z
  .strictObject({
    edges: z.array(EdgeShape),
    next: z
      .string()
      .nullable()
      .openapi({ description: 'null on the last page; a page before may have few edges or none' }),
  })
  .openapi('EdgePage')
export type EdgePage = z.infer<typeof EdgePage>

/** Which edges of a node. */
export const EdgeFilter = {
  direction: EdgeDirectionShape.optional().openapi({
    param: { description: 'only those that go `out`, or come `in`' },
  }),
  kind: EdgeKindShape.optional().openapi({ param: { description: 'only these' } }),
}

const EdgeCounts = z.strictObject({ out: z.int(), in: z.int() }).openapi('EdgeCounts')
const NodeOperation = z
  .strictObject({ operation_id: OperationId, agent: z.string(), status: OperationStatusShape })
  .openapi('NodeOperation')

/** A node with what is directly inside it, in order, and what was done on it. */
export const NodeDetail = z
  .strictObject({
    ...NodeShape.shape,
    children: z.array(NodeId),
    edges: orNull(EdgeCounts).openapi({
      description: 'how many go out and come in; null where an earlier version found the nodes',
    }),
    operations: z.array(NodeOperation),
  })
  .openapi('NodeDetail')
export type NodeDetail = z.infer<typeof NodeDetail>
