import { z } from 'zod'
import { type CodeNode, SkippedFile } from '#domain/code-node.ts'
import { sha256 } from '#domain/hash.ts'
import { NodeId, type ProjectId, type RunId } from '#domain/ids.ts'
import { putHashedJson } from './json-object.ts'
import { mapBounded } from './map-bounded.ts'
import { objectKeys } from './object-keys.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * What a run's discovery found, as a list of pages that are read one at a time: a repository has hundreds of thousands of
 * nodes. A page is one object of JSON Lines, a CodeNode in each, sorted by path, then start byte.
 */
export const NodeList = z.strictObject({
  v: z.literal(1),
  nodes: z.int(),
  /** Nodes to a page; the last has fewer. */
  pageNodes: z.int().min(1),
  pages: z.array(z.strictObject({ hash: z.string(), firstPath: z.string(), lastPath: z.string() })),
  /** An object of lines of `idLineBytes` bytes, `<node id> <place in the list>`, sorted; `first` has every 2,000th id. */
  ids: z.strictObject({ hash: z.string(), first: z.array(NodeId) }),
  /** Paths discovery passed over, and the first of them, sorted by path. */
  skipped: z.int(),
  skippedFiles: z.array(SkippedFile),
})
export type NodeList = z.infer<typeof NodeList>

export type NodeListPlace = { projectId: ProjectId; runId: RunId }
export type FoundNodes = { nodes: readonly CodeNode[]; skipped: readonly SkippedFile[] }

/** Ids of one range request. */
export const idsToChunk = 2_000
const placeDigits = 9
export const idLineBytes = 'n'.length + 16 + ' '.length + placeDigits + '\n'.length

const usualPageNodes = 2_000
const maxSkippedFiles = 1_000
const putsAtOnce = 8

/** Stores nodes that are sorted by path and start byte, and answers the hash of their list. The same nodes give the same. */
export async function putNodeList(
  objects: Pick<ObjectStore, 'put'>,
  { projectId, runId }: NodeListPlace,
  { nodes, skipped }: FoundNodes,
  pageNodes = usualPageNodes,
): Promise<string> {
  const starts = Array.from({ length: Math.ceil(nodes.length / pageNodes) }, (_, page) => page * pageNodes)
  const pages = await mapBounded(starts, putsAtOnce, async (start) => {
    const part = nodes.slice(start, start + pageNodes)
    const text = part.map((node) => `${JSON.stringify(node)}\n`).join('')
    const hash = sha256(text)
    await objects.put(objectKeys.nodePage(projectId, runId, hash), text, { contentType: 'application/x-ndjson' })
    return { hash, firstPath: part[0]?.path ?? '', lastPath: part.at(-1)?.path ?? '' }
  })
  const lines = nodes.map((node, at) => `${node.nodeId} ${String(at).padStart(placeDigits, '0')}\n`).toSorted()
  const ids = lines.join('')
  const idsHash = sha256(ids)
  await objects.put(objectKeys.nodeIds(projectId, runId, idsHash), ids, { contentType: 'text/plain' })
  const first = lines.filter((_, at) => at % idsToChunk === 0).map(idOfLine)
  const list: NodeList = {
    v: 1,
    nodes: nodes.length,
    pageNodes,
    pages,
    ids: { hash: idsHash, first },
    skipped: skipped.length,
    skippedFiles: skipped.slice(0, maxSkippedFiles),
  }
  return putHashedJson(objects, (hash) => objectKeys.nodeList(projectId, runId, hash), list)
}

function idOfLine(line: string): NodeId {
  return line.slice(0, line.indexOf(' '))
}
