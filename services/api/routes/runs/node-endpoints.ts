import { z } from '@hono/zod-openapi'
import { NodeId } from '#domain/ids.ts'
import { NodeKind } from '#domain/code-node.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { languages } from '#languages/syntax/grammars.ts'
import { EdgeDirectionShape, EdgeKindShape, EdgePage, NodeDetail, NodePage } from '#schemas/node-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'
import { Cursor, pageLimit } from '../../http/schema-parts.ts'

const unknownLanguage = 'unknown'

/** An unknown language is refused; a kind may be any, since query packs define their own. */
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

const EdgeFilter = {
  direction: EdgeDirectionShape.optional().openapi('EdgeDirection', {
    param: { description: 'only those that go `out`, or come `in`' },
  }),
  kind: EdgeKindShape.optional().openapi('EdgeKind', { param: { description: 'only these' } }),
}

const problems = ['RUN_001', 'RUN_004', 'RUN_005', 'STORE_002', 'STORE_003'] as const

const pageProse = `
Before discovery is done, the page is empty and has \`complete: false\`. 

With a filter that few nodes pass, a page may hold fewer than \`limit\` of them, even none, although others follow: continue
until \`next\` is null. A kind that no node has gives an empty page; a language without a grammar is refused.`

const edgeProse = `
Edges connect the nodes of the run: skipped code, and code that was not requested, has none. The nodes inside a node have
edges of their own: a class does not call what its methods call. Languages whose query pack has no \`references.scm\` have none.

With a \`kind\` that few of many edges have, a page may hold fewer than \`limit\`, even none, although others follow: continue
until \`next\` is null.`

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
