import { z } from '@hono/zod-openapi'
import { NodeId, OperationId } from '#domain/ids.ts'
import { EdgeCertainty, EdgeDirection, EdgeEnd, EdgeKind, NodeKind, NodeView } from '#domain/code-node.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { languages } from '#syntax/grammars.ts'
import { endpoint, jsonAnswer } from '../http/endpoint.ts'
import { Cursor, named, orNull, pageLimit } from '../http/schema-parts.ts'
import { OperationStatusShape, RunParams, SkippedFileShape } from './run-schema.ts'

/** The language of a file for which discovery has no grammar. */
const unknownLanguage = 'unknown'

/** A named piece of source; lines are 1-based and inclusive, bytes 0-based with the end exclusive. */
export const NodeShape = z.strictObject(NodeView.shape).openapi('Node')

/** Filters of a run's nodes. An unknown language is refused; a kind may be any, since query packs define their own. */
const NodeFilter = {
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
  .openapi('SkippedFiles', { description: 'what discovery skipped; the first 1,000 files, sorted by path' })

/** The `cursor` of the next page. */
function nextOf(items: 'nodes' | 'edges') {
  const description = `null on the last page; a page before may have few ${items} or none`
  return z.string().nullable().openapi({ description })
}

/** Sorted by path, then start byte. */
export const NodePage = z
  .strictObject({
    nodes: z.array(NodeShape),
    next: nextOf('nodes'),
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
export const EdgeNode = z
  .strictObject({
    node_id: end.nodeId,
    kind: end.kind,
    qualified_name: end.qualifiedName,
    path: z.string(),
    start_line: end.startLine,
    end_line: end.endLine,
  })
  .openapi('EdgeNode', { description: 'the node at the other end of an edge' })

/** An edge, seen from the node in the request's path. */
export const EdgeShape = z
  .strictObject({
    direction: EdgeDirectionShape,
    kind: EdgeKindShape,
    certainty: EdgeCertaintyShape,
    node: EdgeNode,
  })
  .openapi('Edge')

/** Outgoing edges first; each direction is sorted by the path and position of the other node. */
export const EdgePage = z.strictObject({ edges: z.array(EdgeShape), next: nextOf('edges') }).openapi('EdgePage')
export type EdgePage = z.infer<typeof EdgePage>

/** Filters of a node's edges. */
const EdgeFilter = {
  direction: EdgeDirectionShape.optional().openapi({
    param: { description: 'only those that go `out`, or come `in`' },
  }),
  kind: EdgeKindShape.optional().openapi({ param: { description: 'only these' } }),
}

const EdgeCounts = z.strictObject({ out: z.int(), in: z.int() }).openapi('EdgeCounts')
export const NodeOperation = z
  .strictObject({
    operation_id: OperationId,
    agent: z.string(),
    status: OperationStatusShape,
    repeats: OperationId.nullable().openapi({ description: 'the operation that it does once more' }),
  })
  .openapi('NodeOperation')

/** A node with the nodes directly inside it, in order, and its operations. */
const NodeDetail = z
  .strictObject({
    ...NodeShape.shape,
    children: z.array(NodeId),
    edges: orNull(EdgeCounts).openapi({
      description: 'how many go out and come in; null where an earlier version found the nodes',
    }),
    operations: z.array(NodeOperation),
  })
  .openapi('NodeDetail')
type NodeDetail = z.infer<typeof NodeDetail>

const problems = ['RUN_001', 'RUN_004', 'RUN_005', 'STORE_002', 'STORE_003'] as const

const pageProse = `
Before discovery is done, the page is empty and has \`complete: false\`. A run whose nodes were discovered by an earlier
version of Remora has none stored: 404 RUN_004.

With a filter that few nodes pass, a page may hold fewer than \`limit\` of them, even none, although others follow: continue
until \`next\` is null. A kind that no node has gives an empty page; a language without a grammar is refused.`

const edgeProse = `
Edges connect the nodes of the run: skipped code, and code that was not requested, has none. The nodes inside a node have
edges of their own: a class does not call what its methods call. Languages whose query pack has no \`references.scm\` have none.

With a \`kind\` that few of many edges have, a page may hold fewer than \`limit\`, even none, although others follow: continue
until \`next\` is null. A run discovered by an earlier version of Remora has no edges stored: 404 RUN_004.`

/** The code nodes of a run and their edges. */
export const nodeEndpoints = {
  nodes: endpoint('runs:read', problems, {
    method: 'get',
    path: '/v1/runs/{run_id}/nodes',
    operationId: 'listNodes',
    summary: 'Its code nodes, sorted by path and place',
    description: pageProse.trim(),
    request: {
      params: RunParams,
      query: z.strictObject({ ...NodeFilter, cursor: Cursor, limit: pageLimit(1000, 200) }),
    },
    responses: { 200: jsonAnswer('a page', NodePage) },
  }),
  node: endpoint('runs:read', problems, {
    method: 'get',
    path: '/v1/runs/{run_id}/nodes/{node_id}',
    operationId: 'getNode',
    summary: 'One code node, what is directly inside it, and its operations',
    request: { params: RunParams.extend({ node_id: NodeId }) },
    responses: { 200: jsonAnswer('the node', NodeDetail) },
  }),
  edges: endpoint('runs:read', problems, {
    method: 'get',
    path: '/v1/runs/{run_id}/nodes/{node_id}/edges',
    operationId: 'listEdges',
    summary: 'What a code node imports, calls, inherits and tests, and what does so with it',
    description: edgeProse.trim(),
    request: {
      params: RunParams.extend({ node_id: NodeId }),
      query: z.strictObject({ ...EdgeFilter, cursor: Cursor, limit: pageLimit(1000, 200) }),
    },
    responses: { 200: jsonAnswer('a page', EdgePage) },
  }),
} as const
