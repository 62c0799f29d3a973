import type { EdgeDirection, EdgeKind, NodeEdge } from '#domain/edge.ts'
import { parseJson } from '#domain/json.ts'
import { EdgeLine, EdgeList, spanBytes } from './edge-list.ts'
import { damagedObject, linesOf, openHashedReads, openRangeReads } from './hashed-reads.ts'
import { parseObject } from './json-object.ts'
import type { NodeListPlace } from './node-list.ts'
import { objectKeys } from './object-keys.ts'
import type { ObjectStore } from './object-store.ts'

/** Which list: of a run, by the hash `putEdgeList` answered. */
export type EdgeListRef = NodeListPlace & { hash: string }

/** How many edges of a node go out, and how many come in. */
export type EdgeCounts = Record<EdgeDirection, number>

export type EdgeFilters = { direction?: EdgeDirection; kind?: EdgeKind }
export type EdgeScan = EdgeFilters & {
  /** Among the node's edges, the first one to look at. */
  from: number
  /** At most so many are answered, and `pagesPerScan` pages read. */
  limit: number
}

/** Edges of one node at a time, by its place in the node list. STORE_003 for what is missing or not what its hash says. */
export type EdgeLists = {
  counts(ref: EdgeListRef, place: number): Promise<EdgeCounts>
  /** `next` is where to look on; null at the end. There may be more, also when fewer than `limit` are answered. */
  scan(ref: EdgeListRef, place: number, scan: EdgeScan): Promise<{ edges: NodeEdge[]; next: number | null }>
}

/** Bounds what one answer reads of a node that thousands call: 16,000 edges. */
const pagesPerScan = 8
const defaultCacheBytes = 8 * 1024 * 1024
/** Nodes of one range request: operations that run together are mostly on neighbours. */
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
      const isWanted = kind === undefined ? () => true : (line: string) => hasKind(line, kind)
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
          edges.push(edgeOf(line, key))
        }
      }
      return { edges, next: null }
    },
  }
}

/** Lines of the list: those of a node that go out come before those that come in. */
function partOf(span: Span, direction: EdgeDirection | undefined): { start: number; end: number } {
  const turn = span.first + span.out
  return { start: direction === 'in' ? turn : span.first, end: direction === 'out' ? turn : turn + span.in }
}

/** By its text: a name that reads like this is further behind. */
function hasKind(line: string, kind: EdgeKind): boolean {
  return line.startsWith(`["out","${kind}",`) || line.startsWith(`["in","${kind}",`)
}

function spanOf(line: string, key: string): Span {
  const [first = NaN, out = NaN, into = NaN] = line.trim().split(' ').map(Number)
  if (Number.isNaN(first + out + into)) throw damagedObject(key)
  return { first, out, in: into }
}

function edgeOf(line: string, key: string): NodeEdge {
  const edge = EdgeLine.safeParse(parseJson(line))
  if (!edge.success) throw damagedObject(key, edge.error)
  return edge.data
}
