import { z } from 'zod'
import type { CodeNode } from '#domain/code-node.ts'
import { type Edge, type EdgeDirection, EdgeEnd, NodeEdge } from '#domain/edge.ts'
import { sha256 } from '#domain/hash.ts'
import { putHashedJson } from './json-object.ts'
import { mapBounded } from './map-bounded.ts'
import type { NodeListPlace } from './node-list.ts'
import { objectKeys } from './object-keys.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * The edges between a run's nodes, so that those of one node are read without the others. Every edge is in it twice, once
 * with each of its nodes; a node's edges lie together, first those that go out, then those that come in, each sorted by
 * the place of the other node in the node list. Nodes are in the order of that list.
 */
export const EdgeList = z.strictObject({
  v: z.literal(1),
  edges: z.int(),
  /** In the node list. */
  nodes: z.int(),
  /** Lines to a page; the last has fewer. */
  pageLines: z.int().min(1),
  /** Hash of each page: an object of JSON Lines, an EdgeLine in each. */
  pages: z.array(z.string()),
  /** Hash of an object of lines of `spanBytes` bytes, a node in each: its first line in the list, how many go out, come in. */
  spans: z.string(),
})
export type EdgeList = z.infer<typeof EdgeList>

const { shape } = NodeEdge
const { nodeId, kind, qualifiedName, path, startLine, endLine } = EdgeEnd.shape

/** A NodeEdge without its field names, of which there would be more than of anything else. */
export const EdgeLine = z
  .tuple([shape.direction, shape.kind, shape.certainty, nodeId, kind, qualifiedName, path, startLine, endLine])
  .transform(([direction, edgeKind, certainty, id, nodeKind, name, file, first, last]): NodeEdge => ({
    direction,
    kind: edgeKind,
    certainty,
    node: { nodeId: id, kind: nodeKind, qualifiedName: name, path: file, startLine: first, endLine: last },
  }))

const digits = 9
export const spanBytes = 3 * (digits + 1)
const usualPageLines = 2_000
const putsAtOnce = 8

/**
 * Stores the edges between nodes that are sorted as in their list, and answers the hash of the list. Edges come in the
 * order of their `from`, then of their `to`. The same give the same. Both ends of every edge must be among the nodes.
 */
export async function putEdgeList(
  objects: Pick<ObjectStore, 'put'>,
  { projectId, runId }: NodeListPlace,
  { nodes, edges }: { nodes: readonly CodeNode[]; edges: readonly Edge[] },
  pageLines = usualPageLines,
): Promise<string> {
  const { lines, spans } = arrangeLines(nodes, edges)
  const textOf = (line: number) => lineText(edges[line >> 1], line & 1 ? 'in' : 'out', nodesById)
  const nodesById = new Map(nodes.map((node) => [node.nodeId, node]))
  const starts = Array.from({ length: Math.ceil(lines.length / pageLines) }, (_, page) => page * pageLines)
  const pages = await mapBounded(starts, putsAtOnce, async (start) => {
    const text = Array.from(lines.subarray(start, start + pageLines), textOf).join('')
    const hash = sha256(text)
    await objects.put(objectKeys.edgePage(projectId, runId, hash), text, { contentType: 'application/x-ndjson' })
    return hash
  })
  const spansHash = sha256(spans)
  await objects.put(objectKeys.edgeSpans(projectId, runId, spansHash), spans, { contentType: 'text/plain' })
  const list: EdgeList = { v: 1, edges: edges.length, nodes: nodes.length, pageLines, pages, spans: spansHash }
  return putHashedJson(objects, (hash) => objectKeys.edgeList(projectId, runId, hash), list)
}

/** The list's lines as numbers, twice the index of the edge and one more where it comes in; and where each node's are. */
function arrangeLines(nodes: readonly CodeNode[], edges: readonly Edge[]): { lines: Uint32Array; spans: string } {
  const places = new Map(nodes.map(({ nodeId: id }, place) => [id, place]))
  const placeOf = (id: string) => {
    const place = places.get(id)
    if (place === undefined) throw new Error(`an edge ends at ${id}, which is no node of the list`)
    return place
  }
  const leaving = edges.map(({ from }) => placeOf(from))
  const arriving = edges.map(({ to }) => placeOf(to))
  const out = countsOf(leaving, nodes.length)
  const into = countsOf(arriving, nodes.length)
  const next = { out: new Uint32Array(nodes.length), in: new Uint32Array(nodes.length) }
  const spans: string[] = []
  for (let place = 0, first = 0; place < nodes.length; place++) {
    const [leave, arrive] = [out[place] ?? 0, into[place] ?? 0]
    next.out[place] = first
    next.in[place] = first + leave
    spans.push(`${[first, leave, arrive].map((figure) => String(figure).padStart(digits, '0')).join(' ')}\n`)
    first += leave + arrive
  }
  const lines = new Uint32Array(2 * edges.length)
  const put = (line: number, direction: EdgeDirection, place = 0) => {
    const at = next[direction][place] ?? 0
    lines[at] = line
    next[direction][place] = at + 1
  }
  for (let edge = 0; edge < edges.length; edge++) {
    put(2 * edge, 'out', leaving[edge])
    put(2 * edge + 1, 'in', arriving[edge])
  }
  return { lines, spans: spans.join('') }
}

function countsOf(places: readonly number[], nodes: number): Uint32Array {
  const counts = new Uint32Array(nodes)
  for (const place of places) counts[place] = (counts[place] ?? 0) + 1
  return counts
}

function lineText(edge: Edge | undefined, direction: EdgeDirection, nodes: ReadonlyMap<string, CodeNode>): string {
  const other = edge && nodes.get(direction === 'out' ? edge.to : edge.from)
  if (edge === undefined || other === undefined) throw new Error('an edge has no other end')
  const { nodeId: id, kind: nodeKind, qualifiedName: name, path: file, startLine: first, endLine: last } = other
  const line: z.input<typeof EdgeLine> = [direction, edge.kind, edge.certainty, id, nodeKind, name, file, first, last]
  return `${JSON.stringify(line)}\n`
}
