import { z } from 'zod'
import { type CodeNode, type Edge, type EdgeDirection, EdgeEnd, type EdgeKind, NodeEdge } from '#domain/code-node.ts'
import { sha256 } from '#domain/ids.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import type { NodeListPlace } from './node-list.ts'
import { objectKeys } from './object-keys.ts'
import { type ObjectStore, parseObject, putHashedJson } from './object-store.ts'
import { damagedObject, linesOf, openHashedReads, openRangeReads, parseLine } from './hashed-reads.ts'

/** Each edge is there twice, once with each of its nodes: first a node's outgoing, then its incoming ones. */
const EdgeList = z.strictObject({
  v: z.literal(1),
  edges: z.int(),
  nodes: z.int(),
  pageLines: z.int().min(1),
  /** Has the hash of each page: an object of JSON Lines, one EdgeLine per line. */
  pages: z.array(z.string()),
  /** Is the hash of an object with a line of `spanBytes` per node: its first line, and its numbers of outgoing and incoming edges. */
  spans: z.string(),
})
type EdgeList = z.infer<typeof EdgeList>

const { shape } = NodeEdge
const ends = EdgeEnd.shape

/** A NodeEdge without its field names, which would take most of the space. */
const EdgeLine = z
  .tuple([
    shape.direction,
    shape.kind,
    shape.certainty,
    ends.nodeId,
    ends.kind,
    ends.qualifiedName,
    ends.path,
    ends.startLine,
    ends.endLine,
  ])
  .transform(([direction, edgeKind, certainty, id, nodeKind, name, file, first, last]): NodeEdge => ({
    direction,
    kind: edgeKind,
    certainty,
    node: { nodeId: id, kind: nodeKind, qualifiedName: name, path: file, startLine: first, endLine: last },
  }))

const digits = 9
const spanBytes = 3 * (digits + 1)
const usualPageLines = 2_000
const putsAtOnce = 8

/** Stores edges, sorted by `from`, then `to`, whose ends are among the sorted nodes; returns the hash. */
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

/** The list's lines as numbers (twice the edge's index, plus one if it is incoming), and where each node's lines are. */
function arrangeLines(nodes: readonly CodeNode[], edges: readonly Edge[]): { lines: Uint32Array; spans: string } {
  const places = new Map(nodes.map(({ nodeId: id }, place) => [id, place]))
  const placeOf = (id: string) => {
    const index = places.get(id)
    if (index === undefined) throw new Error(`an edge ends at ${id}, which is no node of the list`)
    return index
  }
  const leaving = edges.map(({ from }) => placeOf(from))
  const arriving = edges.map(({ to }) => placeOf(to))
  const out = countsOf(leaving, nodes.length)
  const into = countsOf(arriving, nodes.length)
  const next = { out: new Uint32Array(nodes.length), in: new Uint32Array(nodes.length) }
  const spans: string[] = []
  for (let index = 0, first = 0; index < nodes.length; index++) {
    const [leave, arrive] = [out[index] ?? 0, into[index] ?? 0]
    next.out[index] = first
    next.in[index] = first + leave
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
  for (const index of places) counts[index] = (counts[index] ?? 0) + 1
  return counts
}

function lineText(edge: Edge | undefined, direction: EdgeDirection, nodes: ReadonlyMap<string, CodeNode>): string {
  const other = edge && nodes.get(direction === 'out' ? edge.to : edge.from)
  if (edge === undefined || other === undefined) throw new Error('an edge has no other end')
  const { nodeId: id, kind: nodeKind, qualifiedName: name, path: file, startLine: first, endLine: last } = other
  const line: z.input<typeof EdgeLine> = [direction, edge.kind, edge.certainty, id, nodeKind, name, file, first, last]
  return `${JSON.stringify(line)}\n`
}

export type EdgeListRef = NodeListPlace & { hash: string }

type EdgeCounts = Record<EdgeDirection, number>

type EdgeFilters = { direction?: EdgeDirection; kind?: EdgeKind }
export type EdgeScan = EdgeFilters & {
  from: number
  /** Bounds the edges that are returned; at most `pagesPerScan` pages are read. */
  limit: number
}

/** Edges of one node, by its position in the node list. STORE_003 for an object that is missing or has another hash. */
export type EdgeLists = {
  counts(ref: EdgeListRef, place: number): Promise<EdgeCounts>
  /** `next` is where to continue; null at the end. There may be more edges even when fewer than `limit` are returned. */
  scan(ref: EdgeListRef, place: number, scan: EdgeScan): Promise<{ edges: NodeEdge[]; next: number | null }>
}

/** Bounds what one call reads for a node with thousands of callers: 16,000 edges. */
const pagesPerScan = 8
const defaultCacheBytes = 8 * 1024 * 1024
/** Nodes per range request: operations that run together are mostly on neighbouring nodes. */
const spansToChunk = 2_000

type Span = { first: number } & EdgeCounts

export function openEdgeLists(
  objects: Pick<ObjectStore, 'get' | 'getRange'>,
  { maxCacheBytes = defaultCacheBytes }: { maxCacheBytes?: number } = {},
): EdgeLists {
  const parse = (bytes: Uint8Array, key: string) => parseObject(bytes, key, EdgeList)
  const readList = openHashedReads(objects, { parse, maxCacheBytes: maxCacheBytes / 4 })
  const readPage = openHashedReads(objects, { parse: linesOf, maxCacheBytes: maxCacheBytes / 2 })
  const readChunk = openRangeReads(objects, maxCacheBytes / 4)
  const read = ({ projectId, runId, hash }: EdgeListRef) => readList(objectKeys.edgeList(projectId, runId, hash), hash)
  const readSpan = async ({ projectId, runId }: EdgeListRef, { spans, nodes }: EdgeList, place: number) => {
    const key = objectKeys.edgeSpans(projectId, runId, spans)
    if (place >= nodes) throw damagedObject(key)
    const first = place - (place % spansToChunk)
    const end = Math.min(first + spansToChunk, nodes)
    const text = await readChunk(key, { start: first * spanBytes, end: end * spanBytes })
    return spanOf(text.slice((place - first) * spanBytes, (place - first + 1) * spanBytes), key)
  }
  return {
    async counts(ref, place) {
      const span = await readSpan(ref, await read(ref), place)
      return { out: span.out, in: span.in }
    },
    async scan(ref, place, { from, limit, direction, kind }) {
      const isWanted = (line: string) =>
        kind === undefined || line.startsWith(`["out","${kind}",`) || line.startsWith(`["in","${kind}",`)
      const list = await read(ref)
      const span = await readSpan(ref, list, place)
      const part = partOf(span, direction)
      const edges: NodeEdge[] = []
      let at = Math.max(span.first + from, part.start)
      for (let pages = 0; at < part.end; pages++) {
        if (pages === pagesPerScan) return { edges, next: at - span.first }
        const page = Math.floor(at / list.pageLines)
        const key = objectKeys.edgePage(ref.projectId, ref.runId, list.pages[page] ?? '')
        const lines = await readPage(key, list.pages[page] ?? '')
        const first = page * list.pageLines
        for (const end = Math.min(part.end, first + list.pageLines); at < end; at++) {
          const line = lines[at - first] ?? ''
          if (!isWanted(line)) continue
          if (edges.length === limit) return { edges, next: at - span.first }
          edges.push(parseLine(line, key, EdgeLine))
        }
      }
      return { edges, next: null }
    },
  }
}

function partOf(span: Span, direction: EdgeDirection | undefined): { start: number; end: number } {
  const turn = span.first + span.out
  return { start: direction === 'in' ? turn : span.first, end: direction === 'out' ? turn : turn + span.in }
}

function spanOf(line: string, key: string): Span {
  const [first = NaN, out = NaN, into = NaN] = line.trim().split(' ').map(Number)
  if (Number.isNaN(first + out + into)) throw damagedObject(key)
  return { first, out, in: into }
}
