import { z } from 'zod'
import { CodeNode, SkippedFile } from '#domain/code-node.ts'
import { NodeId, type ProjectId, type RunId, sha256 } from '#domain/ids.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { objectKeys } from './object-keys.ts'
import { type ObjectStore, parseObject, putHashedJson } from './object-store.ts'
import { damagedObject, linesOf, openHashedReads, openRangeReads, parseLine } from './hashed-reads.ts'

/** A page is one object of JSON Lines, sorted by path, then start byte. */
const NodeList = z.strictObject({
  v: z.literal(1),
  nodes: z.int(),
  pageNodes: z.int().min(1),
  pages: z.array(z.strictObject({ hash: z.string(), firstPath: z.string(), lastPath: z.string() })),
  /** An object with lines of `idLineBytes` bytes, `<node id> <position in the list>`, sorted; `first` has every 2,000th id. */
  ids: z.strictObject({ hash: z.string(), first: z.array(NodeId) }),
  /** The number of paths that discovery skipped, and the first of them, sorted by path. */
  skipped: z.int(),
  skippedFiles: z.array(SkippedFile),
})
type NodeList = z.infer<typeof NodeList>

export type NodeListPlace = { projectId: ProjectId; runId: RunId }
export type FoundNodes = { nodes: readonly CodeNode[]; skipped: readonly SkippedFile[] }

const idsToChunk = 2_000
const placeDigits = 9
const idLineBytes = 'n'.length + 16 + ' '.length + placeDigits + '\n'.length

const usualPageNodes = 2_000
const maxSkippedFiles = 1_000
const putsAtOnce = 8

/** Stores nodes that are sorted by path and start byte, and returns the hash of their list. The same nodes give the same. */
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
  const first = lines.filter((_, at) => at % idsToChunk === 0).map((line) => line.slice(0, line.indexOf(' ')))
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

export type NodeListRef = NodeListPlace & { hash: string }

/** `path` is a glob, a file, or a folder, which includes everything in it. */
type NodeFilters = { kind?: string; language?: string; path?: string }
export type NodeScan = NodeFilters & {
  from: number
  /** Bounds the nodes that are returned; at most `pagesPerScan` pages are read. */
  limit: number
}

/** Lists of code nodes, a page at a time. STORE_003 for an object that is missing or does not have its hash. */
export type NodeLists = {
  read(ref: NodeListRef): Promise<NodeList>
  /** `next` is where to continue; null at the end. There may be more nodes even when fewer than `limit` are returned. */
  scan(ref: NodeListRef, scan: NodeScan): Promise<{ nodes: CodeNode[]; next: number | null }>
  place(ref: NodeListRef, nodeId: NodeId): Promise<number | undefined>
  /** The node, its position, and the ids of the nodes directly inside it, in order; undefined when the list has no such node. */
  find(ref: NodeListRef, nodeId: NodeId): Promise<{ node: CodeNode; place: number; children: NodeId[] } | undefined>
  all(ref: NodeListRef): AsyncIterable<CodeNode>
}

/** Bounds the cost of a filter that matches almost nothing: a page takes about 30 ms of CPU. */
const pagesPerScan = 8
const defaultCacheBytes = 16 * 1024 * 1024

export function openNodeLists(
  objects: Pick<ObjectStore, 'get' | 'getRange'>,
  { maxCacheBytes = defaultCacheBytes }: { maxCacheBytes?: number } = {},
): NodeLists {
  const parse = (bytes: Uint8Array, key: string) => parseObject(bytes, key, NodeList)
  const readList = openHashedReads(objects, { parse, maxCacheBytes: maxCacheBytes / 4 })
  const readLines = openHashedReads(objects, { parse: linesOf, maxCacheBytes: maxCacheBytes / 2 })
  const readChunk = openRangeReads(objects, maxCacheBytes / 4)
  const read = ({ projectId, runId, hash }: NodeListRef) => readList(objectKeys.nodeList(projectId, runId, hash), hash)
  const readPage = async ({ projectId, runId }: NodeListRef, hash: string): Promise<Page> => {
    const key = objectKeys.nodePage(projectId, runId, hash)
    return { key, lines: await readLines(key, hash) }
  }
  const readIds = ({ projectId, runId }: NodeListRef, { ids, nodes }: NodeList, chunk: number) => {
    const range = { start: chunk * idsToChunk, end: Math.min((chunk + 1) * idsToChunk, nodes) }
    const bytes = { start: range.start * idLineBytes, end: range.end * idLineBytes }
    return readChunk(objectKeys.nodeIds(projectId, runId, ids.hash), bytes)
  }
  const nodesFrom = async function* (ref: NodeListRef, list: NodeList, from: number): AsyncGenerator<CodeNode> {
    for (let page = Math.floor(from / list.pageNodes); page < list.pages.length; page++) {
      const { key, lines } = await readPage(ref, list.pages[page]?.hash ?? '')
      const first = Math.max(0, from - page * list.pageNodes)
      for (const line of lines.slice(first)) yield parseLine(line, key, CodeNode)
    }
  }
  const placeIn = async (ref: NodeListRef, list: NodeList, nodeId: NodeId) => {
    const chunk = list.ids.first.findLastIndex((first) => first <= nodeId)
    return chunk === -1 ? undefined : placeOf(nodeId, await readIds(ref, list, chunk))
  }
  return {
    read,
    place: async (ref, nodeId) => placeIn(ref, await read(ref), nodeId),
    async scan(ref, scan) {
      const list = await read(ref)
      return scanPages(list, scan, (hash) => readPage(ref, hash))
    },
    async find(ref, nodeId) {
      const list = await read(ref)
      const place = await placeIn(ref, list, nodeId)
      if (place === undefined) return undefined
      return { ...(await family(nodesFrom(ref, list, place), nodeId)), place }
    },
    async *all(ref) {
      yield* nodesFrom(ref, await read(ref), 0)
    },
  }
}

type Page = { key: string; lines: readonly string[] }

async function scanPages(
  list: NodeList,
  { from, limit, ...filters }: NodeScan,
  readPage: (hash: string) => Promise<Page>,
): Promise<{ nodes: CodeNode[]; next: number | null }> {
  const wants = filterOf(filters)
  const nodes: CodeNode[] = []
  let read = 0
  for (let at = Math.floor(from / list.pageNodes); at < list.pages.length; at++) {
    const page = list.pages[at]
    if (page === undefined || page.lastPath < wants.prefix) continue
    if (page.firstPath > wants.prefix && !page.firstPath.startsWith(wants.prefix)) break
    const first = at * list.pageNodes
    if (read++ === pagesPerScan) return { nodes, next: Math.max(first, from) }
    const { key, lines } = await readPage(page.hash)
    for (const [line, text] of lines.entries()) {
      if (first + line < from || !wants.parts.every((part) => text.includes(part))) continue
      const node = parseLine(text, key, CodeNode)
      if (!wants.path(node.path)) continue
      if (nodes.length === limit) return { nodes, next: first + line }
      nodes.push(node)
    }
  }
  return { nodes, next: null }
}

/** `parts` occur in the lines of wanted nodes and, since quotes are escaped, in no others. `prefix` begins every wanted path. */
function filterOf({ kind, language, path }: NodeFilters) {
  const fields = [...(kind === undefined ? [] : [{ kind }]), ...(language === undefined ? [] : [{ language }])]
  const plain = path?.split('/').filter((segment) => segment !== '' && segment !== '.')
  return {
    parts: fields.map((field) => JSON.stringify(field).slice(1, -1)),
    path: path === undefined ? () => true : pathGlobs([path]),
    prefix: /^[^*?[{\\]*/.exec(plain?.join('/') ?? '')?.[0] ?? '',
  }
}

async function family(nodes: AsyncIterable<CodeNode>, nodeId: NodeId) {
  let node: CodeNode | undefined
  const children: NodeId[] = []
  for await (const candidate of nodes) {
    if (node === undefined) {
      if (candidate.nodeId !== nodeId) throw damagedObject(`of the ids of ${nodeId}`)
      node = candidate
    } else if (candidate.path !== node.path || candidate.startByte > node.endByte) break
    else if (candidate.parentId === nodeId) children.push(candidate.nodeId)
  }
  if (node === undefined) throw damagedObject(`of the node ${nodeId}`)
  return { node, children }
}

/** Every line has the same length, and an id occurs only at the start of its own line. */
function placeOf(nodeId: NodeId, lines: string): number | undefined {
  const at = lines.indexOf(`${nodeId} `)
  return at === -1 ? undefined : Number(lines.slice(at + nodeId.length + 1, at + idLineBytes))
}
