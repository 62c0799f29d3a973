import { z } from '@hono/zod-openapi'
import { NodeId } from '#domain/ids.ts'
import { endpoint } from '../http/endpoint.ts'
import { Cursor, pageLimit } from '../http/query.ts'
import { EdgeFilter, EdgePage, NodeDetail, NodeFilter, NodePage } from './node-schema.ts'
import { RunParams } from './run-schema.ts'

const access = { scope: 'runs:read', problems: ['RUN_001', 'RUN_004', 'RUN_005', 'STORE_002', 'STORE_003'] } as const

const pageProse = `
Before discovery is done there are none: an empty page with \`complete: false\`. A run that an earlier version of Remora
discovered has none stored and answers 404 RUN_004.

With a filter that few nodes pass, a page may hold fewer than \`limit\` of them, even none, and more come behind it: go on
until \`next\` is null. A kind that the run has no node of gives none; a language there is no grammar for is refused.`

const edgeProse = `
Edges are between the nodes of the run: what it passed over, or was not asked for, has none. What is inside a node has its
own: a class does not call what its methods call. Languages whose query pack has no \`references.scm\` have none.

With a \`kind\` that few of many edges have, a page may hold fewer than \`limit\`, even none, and more come behind it: go on
until \`next\` is null. A run that an earlier version of Remora discovered has no edges stored and answers 404 RUN_004.`

/** What a run found: its code nodes. */
export const nodeEndpoints = {
  nodes: endpoint(access, {
    method: 'get',
    path: '/v1/runs/{run_id}/nodes',
    operationId: 'listNodes',
    summary: 'Its code nodes, sorted by path and place',
    description: pageProse.trim(),
    request: {
      params: RunParams,
      query: z.strictObject({ ...NodeFilter, cursor: Cursor, limit: pageLimit(1000, 200) }),
    },
    responses: { 200: { description: 'a page', content: { 'application/json': { schema: NodePage } } } },
  }),
  node: endpoint(access, {
    method: 'get',
    path: '/v1/runs/{run_id}/nodes/{node_id}',
    operationId: 'getNode',
    summary: 'One code node, what is directly inside it, and its operations',
    request: { params: RunParams.extend({ node_id: NodeId }) },
    responses: { 200: { description: 'the node', content: { 'application/json': { schema: NodeDetail } } } },
  }),
  edges: endpoint(access, {
    method: 'get',
    path: '/v1/runs/{run_id}/nodes/{node_id}/edges',
    operationId: 'listEdges',
    summary: 'What a code node imports, calls, inherits and tests, and what does so with it',
    description: edgeProse.trim(),
    request: {
      params: RunParams.extend({ node_id: NodeId }),
      query: z.strictObject({ ...EdgeFilter, cursor: Cursor, limit: pageLimit(1000, 200) }),
    },
    responses: { 200: { description: 'a page', content: { 'application/json': { schema: EdgePage } } } },
  }),
} as const
