import { AppError } from '#domain/error.ts'
import { NodeId } from '#domain/ids.ts'
import type { ApiClient } from '../api-client.ts'
import type { EdgeView, NodeDetail } from '../api-views.ts'
import { nodePlace } from '../node-place.ts'

/** `edges` are undefined where the run has none stored. */
export type NodeWithEdges = { node: NodeDetail; edges: EdgeView[] | undefined }

const pageSize = 1000

/** The node by its id or as it is printed: `PATH` or `PATH NAME`. RUN_004 when there is none. */
export async function findNodeDetail(
  client: Pick<ApiClient, 'getNode' | 'listNodes'>,
  runId: string,
  named: string,
): Promise<NodeDetail> {
  return client.getNode(runId, NodeId.safeParse(named).success ? named : await idOfPlace(client, runId, named))
}

/** The same with all its edges. */
export async function findNode(
  client: Pick<ApiClient, 'getNode' | 'listEdges' | 'listNodes'>,
  runId: string,
  named: string,
): Promise<NodeWithEdges> {
  const node = await findNodeDetail(client, runId, named)
  if (node.edges === null) return { node, edges: undefined }
  const edges: EdgeView[] = []
  for (let cursor: string | undefined; ;) {
    const page = await client.listEdges(runId, node.node_id, {
      ...(cursor === undefined ? {} : { cursor }),
      limit: pageSize,
    })
    edges.push(...page.edges)
    if (page.next === null) return { node, edges }
    cursor = page.next
  }
}

/** Of nodes of one name the first. A path may have spaces: it is tried as the whole, then up to each space. */
async function idOfPlace(client: Pick<ApiClient, 'listNodes'>, runId: string, named: string): Promise<string> {
  const words = named.split(' ')
  for (let end = words.length; end > 0; end--) {
    const path = words.slice(0, end).join(' ')
    const found = path === '' ? undefined : await idInFile(client, { runId, path, named })
    if (found !== undefined) return found
  }
  const where = 'remora show RUN --nodes lists them'
  throw new AppError('RUN_004', `Run "${runId}" has no node "${named}": give its id or "PATH NAME"; ${where}`)
}

async function idInFile(
  client: Pick<ApiClient, 'listNodes'>,
  { runId, path, named }: { runId: string; path: string; named: string },
): Promise<string | undefined> {
  for (let cursor: string | undefined; ;) {
    const from = cursor === undefined ? {} : { cursor }
    const page = await client.listNodes(runId, { path: escapeGlob(path), ...from, limit: pageSize })
    const found = page.nodes.find((node) => nodePlace(node.path, node.qualified_name) === named)
    if (found !== undefined || page.next === null) return found?.node_id
    cursor = page.next
  }
}

/** A path as the API's filter takes it, which reads globs. */
export function escapeGlob(path: string): string {
  return path.replaceAll(/[*?[\]{}()!@+\\]/g, '\\$&')
}
