import type { CodeNode } from '#domain/code-node.ts'
import type { Run } from '#domain/run.ts'
import type { BlobStore } from '#objects/blob-store.ts'
import { getNodeSelection } from '#objects/node-selection.ts'

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
