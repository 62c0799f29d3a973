import { AppError } from '#domain/error.ts'
import { NodeId } from '#domain/ids.ts'
import type { ApiClient } from '../api-client.ts'
import type { EdgeView, NodeDetail } from '../api-views.ts'
import { nodePlace } from '../node-place.ts'

/** `edges` are undefined where the run has none stored. */
export type NodeWithEdges = { node: NodeDetail; edges: EdgeView[] | undefined }

const pageSize = 1000

/** The node with all its edges, by its id or as it is printed: `PATH` or `PATH NAME`. RUN_004 when there is none. */
export async function findNode(
  client: Pick<ApiClient, 'getNode' | 'listEdges' | 'listNodes'>,
  runId: string,
  named: string,
): Promise<NodeWithEdges> {
  const nodeId = NodeId.safeParse(named).success ? named : await idOfPlace(client, runId, named)
  const node = await client.getNode(runId, nodeId)
  if (node.edges == null) return { node, edges: undefined }
  const edges: EdgeView[] = []
  for (let cursor: string | undefined; ;) {
    const page = await client.listEdges(runId, nodeId, { ...(cursor === undefined ? {} : { cursor }), limit: pageSize })
    edges.push(...page.edges)
    if (page.next === null) return { node, edges }
    cursor = page.next
  }
}

/** Of nodes of one name the first; a path with spaces may end anywhere. */
async function idOfPlace(client: Pick<ApiClient, 'listNodes'>, runId: string, named: string): Promise<string> {
  const words = named.split(' ')
  for (let end = words.length; end > 0; end--) {
    const path = escapeGlob(words.slice(0, end).join(' '))
    for (let cursor: string | undefined; path !== '';) {
      const page = await client.listNodes(runId, { path, ...(cursor === undefined ? {} : { cursor }), limit: pageSize })
      const found = page.nodes.find((node) => nodePlace(node.path, node.qualified_name) === named)
      if (found !== undefined) return found.node_id
      if (page.next === null) break
      cursor = page.next
    }
  }
  const where = 'remora show RUN --nodes lists them'
  throw new AppError('RUN_004', `Run "${runId}" has no node "${named}": give its id or "PATH NAME"; ${where}`)
}

function escapeGlob(path: string): string {
  return path.replaceAll(/[*?[\]{}()!@+\\]/g, '\\$&')
}
