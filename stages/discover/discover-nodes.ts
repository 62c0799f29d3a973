import type { CodeNode, Edge, SkippedFile } from '#domain/code-node.ts'
import { byPath } from '#domain/repo-path.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { msSince } from '#platform/clock.ts'
import type { RepositoryFacts } from '#languages/python/repository-facts.ts'
import { languageOf } from '#languages/syntax/grammars.ts'
import {
  checkFilters,
  chooseFiles,
  type ChosenFiles,
  type DiscoveryFilters,
  type SourceFile,
  type SourceTree,
} from './choose-files.ts'
import { batchesOf, type BlobReader, indexBatch, type IndexedBlob, type SourceBlob } from './index-blobs.ts'
import { linkEdges } from './edges/link-edges.ts'
import { readModuleFiles } from './edges/module-map.ts'
import { asAdmitted, type FoundFile, isToBeRead, type KnownFiles, type ReadFile } from './index-file.ts'
import { codeNodesOf, unknownLanguage } from './node-index.ts'
import type { ParsePool } from './parse-pool.ts'
import type { QueryPack } from './query-pack.ts'
import { readTreeRules } from './unwanted/tree-rules.ts'

export type DiscoveryInput = BlobReader & {
  files: readonly SourceFile[]
  filters?: DiscoveryFilters
  known?: KnownFiles
}

export type DiscoveryDeps = { pool: ParsePool; packs: ReadonlyMap<string, QueryPack> }

export type Discovery = {
  /** These are sorted by path, then start byte; an enclosing node comes before those in it. */
  nodes: CodeNode[]
  /** Files that gave at least their file node, whatever kinds were asked for. */
  files: number
  /** These are sorted by path; a folder includes everything in it. A file that is listed and has nodes all the same does not parse in parts. */
  skipped: SkippedFile[]
  durationMs: number
  parsed: number
  /** These lead from one of the nodes above to another; they are there only when the packs look for references. */
  edges?: Edge[]
  /** These are of the Python files that were looked into, by path, where the packs ask for them. */
  facts: ReadonlyMap<string, RepositoryFacts>
}

/**
 * Finds the code nodes of a tree. The same tree and packs give the same nodes, with or without a cache. Files that are not cached
 * are read a few batches at a time and parsed in the pool's threads. Throws for filters that nothing could match (DISC_001,
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
  const tree = { files: input.files, rules: await readTreeRules(input.files, input.read) }
  const chosen = await chooseFiles(tree, filters, signal)
  const { results, parsed } = await readChosen(chosen, input, deps, signal)
  const read = new Map(results.entries().flatMap(([path, file]) => ('skipped' in file ? [] : [[path, file] as const])))
  const kinds = filters.nodeKinds?.length ? new Set(filters.nodeKinds) : undefined
  const all = chosen.files.flatMap(({ path }) => read.get(path)?.nodes ?? [])
  const nodes = kinds === undefined ? all : all.filter((node) => kinds.has(node.kind))
  const edges = await edgesOf(tree, { all, nodes, read }, { packs: deps.packs, read: input.read }, signal)
  return {
    nodes,
    ...(edges && { edges }),
    facts: new Map(Array.from(read, ([path, { facts }]) => [path, facts] as const).filter(hasFacts)),
    files: read.size,
    skipped: [...chosen.skipped, ...results.entries().flatMap(skippedOf)].toSorted(byPath),
    durationMs: msSince(start),
    parsed,
  }
}

function hasFacts(entry: readonly [string, RepositoryFacts | undefined]): entry is readonly [string, RepositoryFacts] {
  return entry[1] !== undefined
}

async function readChosen(
  { files, admitted }: ChosenFiles,
  input: DiscoveryInput,
  { packs, pool }: DiscoveryDeps,
  signal: AbortSignal,
): Promise<{ results: Map<string, FoundFile>; parsed: number }> {
  const packOf = (path: string) => packs.get(languageOf(path) ?? unknownLanguage)
  const results = new Map<string, FoundFile>()
  for (const { path } of input.known === undefined ? [] : files) {
    const known = input.known?.get(path, packOf(path))
    const marks = admitted(path)
    if (known !== undefined && !isToBeRead(known, marks)) results.set(path, asAdmitted(known, marks))
  }
  const unknown = files.filter(({ path }) => !results.has(path))
  let parsed = 0
  const batches = [...batchesOf(distinctBlobs(unknown, packOf, admitted))]
  // One batch more than threads, so that some are read while others are parsed.
  await mapBounded(batches, pool.threads + 1, async (batch) => {
    signal.throwIfAborted()
    for (const indexed of await indexBatch(batch, input, pool)) {
      if (indexed.parsed) parsed++
      for (const path of indexed.blob.paths) {
        const file = fileAt(path, indexed)
        results.set(path, indexed.result.kind === 'unreadable' ? file : asAdmitted(file, admitted(path)))
        if (indexed.result.kind !== 'unreadable') input.known?.put(path, indexed.blob.pack, file)
      }
    }
  })
  return { results, parsed }
}

function distinctBlobs(
  files: readonly SourceFile[],
  packOf: (path: string) => QueryPack | undefined,
  admitted: ChosenFiles['admitted'],
): Iterable<SourceBlob> {
  const blobs = new Map<string, SourceBlob>()
  for (const { path, hash, size } of files) {
    const pack = packOf(path)
    const key = `${hash}.${pack?.language ?? unknownLanguage}`
    const known = blobs.get(key)
    const marks = admitted(path)
    if (known === undefined) blobs.set(key, { hash, size, pack, paths: [path], admitted: marks })
    else {
      known.paths.push(path)
      if (known.admitted !== marks) known.admitted = [...new Set([...known.admitted, ...marks])]
    }
  }
  return blobs.values()
}

/** Edges are computed over all nodes that were found; those between the requested nodes are returned. */
async function edgesOf(
  tree: SourceTree,
  { all, nodes, read }: { all: CodeNode[]; nodes: CodeNode[]; read: ReadonlyMap<string, ReadFile> },
  { packs, read: readContent }: Pick<DiscoveryDeps, 'packs'> & Pick<DiscoveryInput, 'read'>,
  signal: AbortSignal,
): Promise<Edge[] | undefined> {
  if (!packs.values().some((pack) => pack.references !== undefined)) return undefined
  const references = new Map(Array.from(read, ([path, file]) => [path, file.references]))
  const moduleFiles = await readModuleFiles(tree, readContent)
  const paths = tree.files.map((file) => file.path)
  const edges = await linkEdges({ paths, nodes: all, references, moduleFiles }, signal)
  const asked = new Set(nodes.map((node) => node.nodeId))
  return edges.filter(({ from, to }) => asked.has(from) && asked.has(to))
}

function fileAt(path: string, { blob, result }: IndexedBlob): FoundFile {
  if (result.kind === 'unreadable') return { skipped: result.reason }
  if ('skipped' in result.index) return result.index
  const { nodes, broken, references = [], facts, marks } = result.index
  const language = blob.pack?.language ?? unknownLanguage
  return {
    nodes: codeNodesOf(path, language, nodes),
    broken,
    references,
    ...(facts && { facts }),
    ...(marks && { marks }),
  }
}

/** A file with nodes is listed as skipped for its parts that do not parse. */
function skippedOf([path, file]: readonly [string, FoundFile]): SkippedFile[] {
  if ('skipped' in file) return [{ path, reason: file.skipped }]
  return file.broken.length === 0 ? [] : [{ path, reason: `does not parse: ${someOf(file.broken)}` }]
}

const namedInReason = 20

function someOf(names: readonly string[]): string {
  const more = names.length - namedInReason
  return [...names.slice(0, namedInReason), ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}
