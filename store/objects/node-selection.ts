import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { NodeId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { Run } from '#domain/run.ts'
import type { BlobStore } from './blob-store.ts'

const NodeSelection = z.strictObject({ v: z.literal(1), nodes: z.array(NodeId) })

/** Stores the nodes that a run is limited to as a blob, which a retry refers to as well; returns its hash. */
export function putNodeSelection(blobs: Pick<BlobStore, 'put'>, projectId: string, nodes: readonly NodeId[]) {
  return blobs.put(projectId, Buffer.from(JSON.stringify({ v: 1, nodes: [...new Set(nodes)].toSorted() })))
}

/** Throws STORE_003 when it is missing or is not such a list. */
export async function getNodeSelection(blobs: Pick<BlobStore, 'get'>, projectId: string, hash: string) {
  const text = Buffer.from(await blobs.get(projectId, hash)).toString()
  const parsed = NodeSelection.safeParse(parseJson(text))
  if (!parsed.success) throw new AppError('STORE_003', `blob ${hash} is no list of nodes`, { cause: parsed.error })
  return new Set(parsed.data.nodes)
}

/** Names the kind of a node, and its text: two nodes that have the same are alike, wherever they are. */
export function contentOf({ kind, hash }: Pick<CodeNode, 'kind' | 'hash'>): string {
  return `${kind} ${hash}`
}

/** `asked`: those that the request names; `nodes`: those of them to work on; `unchanged`: the others. */
export type SelectedNodes = Record<'asked' | 'nodes' | 'unchanged', readonly CodeNode[]>

/** Returns the nodes that the run's request names, or all. `base`: the contents of another state of the code. */
export async function selectedNodes(
  { projectId, request }: Pick<Run, 'projectId' | 'request'>,
  nodes: readonly CodeNode[],
  { blobs, base }: { blobs: Pick<BlobStore, 'get'>; base?: ReadonlySet<string> | undefined },
): Promise<SelectedNodes> {
  const selected = request.nodes && (await getNodeSelection(blobs, projectId, request.nodes.hash))
  const asked = selected === undefined ? nodes : nodes.filter(({ nodeId }) => selected.has(nodeId))
  if (base === undefined) return { asked, nodes: asked, unchanged: [] }
  const isUnchanged = (node: CodeNode) => base.has(contentOf(node))
  return { asked, nodes: asked.filter((node) => !isUnchanged(node)), unchanged: asked.filter(isUnchanged) }
}
