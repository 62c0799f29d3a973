import type { CodeNode, SkippedFile } from '#domain/code-node.ts'
import { byPath } from '#domain/repo-path.ts'
import { msSince } from '#platform/clock.ts'
import { languageOf } from '#syntax/grammars.ts'
import { checkFilters, chooseFiles, type DiscoveryFilters, type SourceFile } from './choose-files.ts'
import { batchesOf, type BlobReader, indexBatch, type IndexedBlob, type SourceBlob } from './index-blobs.ts'
import type { Edge } from '#domain/edge.ts'
import { linkEdges } from './edges/link-edges.ts'
import { readModuleFiles } from './edges/read-module-files.ts'
import type { Reference } from './edges/reference.ts'
import { codeNodesOf, unknownLanguage } from './node-index.ts'
import type { ParsePool } from './parse-pool.ts'
import type { QueryPack } from './query-pack.ts'

export type DiscoveryInput = BlobReader & { files: readonly SourceFile[]; filters?: DiscoveryFilters }

export type DiscoveryDeps = { pool: ParsePool; packs: ReadonlyMap<string, QueryPack> }

export type Discovery = {
  /** Sorted by path, then start byte; an enclosing node before what it encloses. */
  nodes: CodeNode[]
  /** Files that gave at least their file node, whatever kinds were asked for. */
  files: number
  /** Sorted by path; a folder stands for all it holds. A file with nodes is in it for what does not parse in it. */
  skipped: SkippedFile[]
  durationMs: number
  /** Distinct contents that had to be parsed: the cache did not have them. */
  parsed: number
  /** Between the nodes above; only when the packs look for references. */
  edges?: Edge[]
}

/**
 * Finds the code nodes of a tree. The same tree and packs give the same nodes, with or without a cache. Contents are
 * read a few batches at a time and parsed in the pool's threads. Throws for filters nothing could match (DISC_001,
 * DISC_003, RUN_002, INTAKE_008) and for stores that fail; an abort is noticed between batches.
 */
export async function discoverNodes(
  input: DiscoveryInput,
  deps: DiscoveryDeps,
  signal: AbortSignal,
): Promise<Discovery> {
  const start = performance.now()
  const { filters = {} } = input
  checkFilters(filters, deps.packs)
  const chosen = await chooseFiles(input.files, filters, signal)
  const found: FoundFiles = new Map()
  const skipped = [...chosen.skipped]
  let parsed = 0
  await eachBatch(distinctBlobs(chosen.files, deps.packs), deps.pool.threads + 1, signal, async (batch) => {
    for (const indexed of await indexBatch(batch, input, deps.pool)) {
      if (indexed.parsed) parsed++
      collect(indexed, found, skipped)
    }
  })
  const kinds = filters.nodeKinds?.length ? new Set(filters.nodeKinds) : undefined
  const all = chosen.files.flatMap((file) => found.get(file.path)?.nodes ?? [])
  const nodes = kinds === undefined ? all : all.filter((node) => kinds.has(node.kind))
  const edges = await edgesOf(input, deps, { all, nodes, found }, signal)
  return {
    nodes,
    ...(edges && { edges }),
    files: found.size,
    skipped: skipped.toSorted(byPath),
    durationMs: msSince(start),
    parsed,
  }
}

function distinctBlobs(files: readonly SourceFile[], packs: ReadonlyMap<string, QueryPack>): Iterable<SourceBlob> {
  const blobs = new Map<string, SourceBlob>()
  for (const { path, hash, size } of files) {
    const pack = packs.get(languageOf(path) ?? unknownLanguage)
    const key = `${hash}.${pack?.language ?? unknownLanguage}`
    const known = blobs.get(key)
    if (known === undefined) blobs.set(key, { hash, size, pack, paths: [path] })
    else known.paths.push(path)
  }
  return blobs.values()
}

/** Runs `work` on batches in `lanes` lanes, so that some are read while others are parsed. One failure stops all. */
async function eachBatch(
  blobs: Iterable<SourceBlob>,
  lanes: number,
  signal: AbortSignal,
  work: (batch: readonly SourceBlob[]) => Promise<void>,
): Promise<void> {
  const batches = [...batchesOf(blobs)].values()
  let failed = false
  const lane = async () => {
    try {
      for (const batch of batches) {
        signal.throwIfAborted()
        if (failed) return
        await work(batch)
      }
    } catch (error) {
      failed = true
      throw error
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

type FoundFiles = Map<string, { nodes: CodeNode[]; references: readonly Reference[] }>

/** Edges are told from everything that was found, and kept between the nodes that were asked for. */
async function edgesOf(
  { files, read }: DiscoveryInput,
  { packs }: DiscoveryDeps,
  { all, nodes, found }: { all: CodeNode[]; nodes: CodeNode[]; found: FoundFiles },
  signal: AbortSignal,
): Promise<Edge[] | undefined> {
  if (!packs.values().some((pack) => pack.references !== undefined)) return undefined
  const references = new Map(Array.from(found, ([path, file]) => [path, file.references]))
  const moduleFiles = await readModuleFiles(files, read)
  const paths = files.map((file) => file.path)
  const edges = await linkEdges({ paths, nodes: all, references, moduleFiles }, signal)
  const asked = new Set(nodes.map((node) => node.nodeId))
  return edges.filter(({ from, to }) => asked.has(from) && asked.has(to))
}

function collect({ blob, result }: IndexedBlob, found: FoundFiles, skipped: SkippedFile[]): void {
  for (const path of blob.paths) {
    if (result.kind === 'unreadable') skipped.push({ path, reason: result.reason })
    else if ('skipped' in result.index) skipped.push({ path, reason: result.index.skipped })
    else {
      const { nodes, broken, references = [] } = result.index
      found.set(path, { nodes: codeNodesOf(path, blob.pack?.language ?? unknownLanguage, nodes), references })
      if (broken.length > 0) skipped.push({ path, reason: `does not parse: ${broken.join(', ')}` })
    }
  }
}
