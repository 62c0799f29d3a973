import type { OpenAPIHono } from '@hono/zod-openapi'
import { AppError, undefinedOn } from '#domain/error.ts'
import { type NodeId, operationId, recordIds } from '#domain/ids.ts'
import { nodeView } from '#domain/code-node.ts'
import { type Operation, OperationWork } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { EdgeListRef, EdgeLists } from '#store/objects/edge-list.ts'
import type { NodeListRef, NodeLists } from '#store/objects/node-list.ts'
import { EdgeNode, EdgeShape, NodeOperation, type NodePage } from '#schemas/node-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { viewOf } from '../../http/schema-parts.ts'
import { findRun } from './run-view.ts'
import { nodeEndpoints } from './node-endpoints.ts'

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
