import { z } from 'zod'
import { EdgeCertainty, EdgeDirection, EdgeEnd, EdgeKind, NodeView } from '#domain/code-node.ts'
import { NodeId, OperationId } from '#domain/id-schemas.ts'
import { snakeKeys } from '#domain/wire-keys.ts'
import { OperationStatusShape, SkippedFileShape } from './run-schema.ts'

/** A named piece of source; lines are 1-based and inclusive, bytes 0-based with the end exclusive. */
export const NodeShape = z.strictObject(NodeView.shape).meta({ id: 'Node' })

const SkippedFiles = z
  .strictObject({ count: z.int(), files: z.array(SkippedFileShape) })
  .meta({ id: 'SkippedFiles', description: 'what discovery skipped; the first 1,000 files, sorted by path' })

/** The `cursor` of the next page. */
function nextOf(items: 'nodes' | 'edges') {
  const description = `null on the last page; a page before may have few ${items} or none`
  return z.string().nullable().meta({ description })
}

/** Sorted by path, then start byte. */
export const NodePage = z
  .strictObject({
    nodes: z.array(NodeShape),
    next: nextOf('nodes'),
    complete: z.boolean().meta({ description: 'false while discovery is not done, and for ever if it was never done' }),
    skipped: SkippedFiles.optional(), // on the first page
  })
  .meta({ id: 'NodePage' })
export type NodePage = z.infer<typeof NodePage>

export const EdgeDirectionShape = EdgeDirection.meta({
  id: 'EdgeDirection',
  description: '`out`: the node needs the other one; `in`: the other needs it',
})
export const EdgeKindShape = EdgeKind.meta({ id: 'EdgeKind' })
const EdgeCertaintyShape = EdgeCertainty.meta({
  id: 'EdgeCertainty',
  description: "`exact`: by the language's own rules; `by_name`: nothing else in the repository has that name",
})
export const EdgeNode = z
  .strictObject({ ...snakeKeys(EdgeEnd.shape), path: z.string() })
  .meta({ id: 'EdgeNode', description: 'the node at the other end of an edge' })

/** An edge, seen from the node in the request's path. */
export const EdgeShape = z
  .strictObject({
    direction: EdgeDirectionShape,
    kind: EdgeKindShape,
    certainty: EdgeCertaintyShape,
    node: EdgeNode,
  })
  .meta({ id: 'Edge' })
export type EdgeShape = z.infer<typeof EdgeShape>

/** Outgoing edges first; each direction is sorted by the path and position of the other node. */
export const EdgePage = z.strictObject({ edges: z.array(EdgeShape), next: nextOf('edges') }).meta({ id: 'EdgePage' })
export type EdgePage = z.infer<typeof EdgePage>

const EdgeCounts = z.strictObject({ out: z.int(), in: z.int() }).meta({ id: 'EdgeCounts' })
export const NodeOperation = z
  .strictObject({
    operation_id: OperationId,
    agent: z.string(),
    status: OperationStatusShape,
    superseded_by: OperationId.nullable().meta({ description: 'the operation that does its work once more' }),
  })
  .meta({ id: 'NodeOperation' })

/** A node with the nodes directly inside it, in order, and its operations. */
export const NodeDetail = z
  .strictObject({
    ...NodeShape.shape,
    children: z.array(NodeId),
    edges: EdgeCounts,
    operations: z.array(NodeOperation),
  })
  .meta({ id: 'NodeDetail' })
export type NodeDetail = z.infer<typeof NodeDetail>
