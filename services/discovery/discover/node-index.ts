import { basename } from 'node:path/posix'
import { z } from 'zod'
import { CodeNode, NodeKind } from '#domain/code-node.ts'
import { nodeId } from '#domain/ids.ts'
import { Reference } from './edges/reference.ts'

/** A node without its path: what parsing one blob gives, wherever the blob lies. `parent` is an index into the list. */
export const IndexedNode = z.strictObject({
  kind: NodeKind,
  name: z.string(),
  qualifiedName: z.string(),
  /** Its place among the nodes of the blob with the same kind and qualified name, in source order, from 0. */
  ordinal: z.int().min(0),
  parent: z.int().min(0).nullable(),
  ...CodeNode.pick({ startLine: true, endLine: true, startByte: true, endByte: true, hash: true }).shape,
})
export type IndexedNode = z.infer<typeof IndexedNode>

/** What discovery knows of one blob under one query pack; kept in the cache (contract.md §8). The file is node 0. */
export const NodeIndex = z.union([
  z.strictObject({
    nodes: z.array(IndexedNode).min(1),
    /** Qualified names of definitions that are no nodes, since what they hold does not parse. */
    broken: z.array(z.string()),
    /** What the blob refers to, where it was looked for. */
    references: z.array(Reference).optional(),
  }),
  z.strictObject({ skipped: z.string() }),
])
export type NodeIndex = z.infer<typeof NodeIndex>
export type ReadIndex = Exclude<NodeIndex, { skipped: string }>

/** The name a file of no known language goes by. */
export const unknownLanguage = 'unknown'

/** The nodes of the file at `path`, with their ids, in the order of `nodes`. A file's name is its last path segment. */
export function codeNodesOf(path: string, language: string, nodes: readonly IndexedNode[]): CodeNode[] {
  const named = nodes.map((node) =>
    node.parent === null ? { ...node, name: basename(path), qualifiedName: path } : node,
  )
  const ids = named.map((node) => nodeId({ path, ...node }))
  return named.map(({ parent, ordinal: _, ...node }, index) => ({
    nodeId: ids[index] ?? '',
    ...node,
    path,
    language,
    parentId: parent === null ? null : (ids[parent] ?? null),
  }))
}
