import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { NodeId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { Run } from '#domain/run.ts'
import type { BlobStore } from './blob-store.ts'

const NodeSelection = z.strictObject({ v: z.literal(1), nodes: z.array(NodeId) })

/**
 * Stores the nodes that a run is limited to as a blob of the project and answers its hash. It is no part of the run's
 * state, which every reader of the run gets; a retry of the run refers to the same blob.
 */
export function putNodeSelection(
  blobs: Pick<BlobStore, 'put'>,
  projectId: string,
  nodes: readonly NodeId[],
): Promise<string> {
  return blobs.put(projectId, Buffer.from(JSON.stringify({ v: 1, nodes: [...new Set(nodes)].toSorted() })))
}

/** STORE_003 when it is missing or is not such a list. */
export async function getNodeSelection(
  blobs: Pick<BlobStore, 'get'>,
  projectId: string,
  hash: string,
): Promise<ReadonlySet<NodeId>> {
  const text = Buffer.from(await blobs.get(projectId, hash)).toString()
  const parsed = NodeSelection.safeParse(parseJson(text))
  if (!parsed.success) throw new AppError('STORE_003', `blob ${hash} is no list of nodes`, { cause: parsed.error })
  return new Set(parsed.data.nodes)
}

/** Those of `nodes` that the run's request names, in their order; all of them when it names none. */
export async function selectedNodes(
  { projectId, request }: Pick<Run, 'projectId' | 'request'>,
  nodes: readonly CodeNode[],
  blobs: Pick<BlobStore, 'get'>,
): Promise<readonly CodeNode[]> {
  if (request.nodes === undefined) return nodes
  const selected = await getNodeSelection(blobs, projectId, request.nodes.hash)
  return nodes.filter(({ nodeId }) => selected.has(nodeId))
}
