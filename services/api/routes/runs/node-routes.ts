import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { AppError, undefinedOn } from '#domain/error.ts'
import { NodeId, operationId, recordIds } from '#domain/ids.ts'
import { NodeKind, nodeView } from '#domain/code-node.ts'
import { type Operation, OperationWork } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { EdgeListRef, EdgeLists } from '#store/objects/edge-list.ts'
import type { NodeListRef, NodeLists } from '#store/objects/node-list.ts'
import {
  EdgeDirectionShape,
  EdgeKindShape,
  EdgeNode,
  EdgePage,
  EdgeShape,
  NodeDetail,
  NodeOperation,
  NodePage,
} from '#schemas/node-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { Cursor, pageLimit, viewOf } from '../../http/schema-parts.ts'
import { findRun } from './run-view.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { languages } from '#languages/syntax/grammars.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

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

const problems = ['RUN_004', 'STORE_002', 'STORE_003'] as const

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

export type NodeRouteDeps = {
  ledger: Pick<Ledger, 'getRun' | 'getOperation' | 'readAgenda'>
  records: { nodes: Pick<NodeLists, 'find' | 'place' | 'read' | 'scan'>; edges: EdgeLists }
}

export function addNodeRoutes(routes: OpenAPIHono<ApiEnv>, deps: NodeRouteDeps): void {
  const { ledger, records } = deps
  routes.openapi(nodeEndpoints.nodes, async (c) => {
    const { cursor, limit, kind, language, path } = c.req.valid('query')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, ledger)
    const ref = listOf(run)
    if (ref === undefined) return c.json({ nodes: [], next: null, complete: false }, 200)
    const filters = { ...(kind && { kind }), ...(language && { language }), ...(path && { path }) }
    const { nodes, next } = await records.nodes.scan(ref, { ...filters, from: Number(cursor ?? 0), limit })
    const page = { nodes: nodes.map(nodeView), next: next === null ? null : String(next), complete: true }
    return c.json(cursor === undefined ? { ...page, skipped: await skippedOf(ref, deps) } : page, 200)
  })
  routes.openapi(nodeEndpoints.node, async (c) => {
    const { run_id: runId, node_id: nodeId } = c.req.valid('param')
    const run = await findRun(runId, c.get('caller').projectId, ledger)
    const ref = listOf(run)
    const node = ref === undefined ? undefined : await records.nodes.find(ref, nodeId)
    const edgeRef = edgesOf(run)
    if (node === undefined || edgeRef === undefined) throw noSuchNode(runId, nodeId)
    const edges = await records.edges.counts(edgeRef, node.place)
    const operations = await operationsOn(nodeId, run, ledger)
    const views = operations.map((operation) => viewOf(NodeOperation, operation, { agent: operation.bundle }))
    return c.json({ ...nodeView(node.node), children: node.children, edges, operations: views }, 200)
  })
  routes.openapi(nodeEndpoints.edges, async (c) => {
    const { run_id: runId, node_id: nodeId } = c.req.valid('param')
    const { cursor, limit, direction, kind } = c.req.valid('query')
    const run = await findRun(runId, c.get('caller').projectId, ledger)
    const ref = listOf(run)
    const nodeAt = ref === undefined ? undefined : await records.nodes.place(ref, nodeId)
    const edgeRef = edgesOf(run)
    if (nodeAt === undefined || edgeRef === undefined) throw noSuchNode(runId, nodeId)
    const filters = { ...(direction && { direction }), ...(kind && { kind }) }
    const { edges, next } = await records.edges.scan(edgeRef, nodeAt, { ...filters, from: Number(cursor ?? 0), limit })
    const views = edges.map((edge) => viewOf(EdgeShape, edge, { node: viewOf(EdgeNode, edge.node, {}) }))
    return c.json({ edges: views, next: next === null ? null : String(next) }, 200)
  })
}

function noSuchNode(runId: string, nodeId: NodeId): AppError {
  return new AppError('RUN_004', `Run "${runId}" has no node "${nodeId}".`)
}

/** Undefined before discovery is done. */
function listOf({ runId, projectId, nodeListKey: hash }: Run): NodeListRef | undefined {
  return hash === null ? undefined : { projectId, runId, hash }
}

function edgesOf({ runId, projectId, edgeListKey: hash }: Run): EdgeListRef | undefined {
  return hash === null ? undefined : { projectId, runId, hash }
}

async function skippedOf(ref: NodeListRef, { records }: NodeRouteDeps): Promise<NodePage['skipped']> {
  const { skipped, skippedFiles } = await records.nodes.read(ref)
  return { count: skipped, files: skippedFiles }
}

/** The ids follow from the node, the agent and the kind of work. */
async function operationsOn(nodeId: NodeId, run: Run, ledger: NodeRouteDeps['ledger']): Promise<Operation[]> {
  const { agents: named } = run.request
  const agents = named.length > 0 ? named : await plannedAgents(run, ledger)
  const ids = [...agents].flatMap((agent) => OperationWork.options.map((work) => operationId(nodeId, agent, work)))
  const all = ids.flatMap((id) => recordIds(id, run.generation))
  const operations = all.map((id) => ledger.getOperation(run.runId, id).catch(undefinedOn('RUN_004')))
  return (await Promise.all(operations)).filter((operation) => operation !== undefined)
}

/** Reads the agents of a run with an objective that names none from its plan. */
async function plannedAgents({ runId }: Run, ledger: NodeRouteDeps['ledger']): Promise<ReadonlySet<string>> {
  const { items = [] } = (await ledger.readAgenda(runId))?.state ?? {}
  return new Set(items.map(({ capability }) => capability))
}
