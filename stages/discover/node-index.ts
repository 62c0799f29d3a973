import { basename } from 'node:path/posix'
import { z } from 'zod'
import { CodeNode, NodeKind } from '#domain/code-node.ts'
import { nodeId } from '#domain/ids.ts'
import { RepositoryFacts } from '#languages/python/repository-facts.ts'
import { Reference } from './edges/find-references.ts'
import { ContentMark } from './unwanted/unwanted-content.ts'

/** A node without its path: the result of parsing one blob, whatever its path. `parent` is an index into the list. */
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

/** Caches what discovery found in one blob under one query pack. The file is node 0. */
export const NodeIndex = z.union([
  z.strictObject({
    nodes: z.array(IndexedNode).min(1),
    /** Names what does not parse: the qualified names of the definitions that contain it, which are not nodes; else the first line. */
    broken: z.array(z.string()),
    references: z.array(Reference).optional(),
    facts: RepositoryFacts.optional(),
    /** Marks for which the blob is skipped at paths where they are not allowed. */
    marks: z.array(ContentMark).optional(),
  }),
  /** `marks`, if they are the reason: where all of them are allowed, the blob must still be read. */
  z.strictObject({ skipped: z.string(), marks: z.array(ContentMark).optional() }),
])
export type NodeIndex = z.infer<typeof NodeIndex>
export type ReadIndex = Exclude<NodeIndex, { skipped: string }>

export const unknownLanguage = 'unknown'

/** Returns the nodes with their ids, in the order of `nodes`: an enclosing node comes before what it encloses. */
export function codeNodesOf(path: string, language: string, nodes: readonly IndexedNode[]): CodeNode[] {
  const made: CodeNode[] = []
  // Written out: copies by rest and spread take ten times as long, and there may be a million nodes.
  for (const node of nodes) {
    const { kind, ordinal, parent, startLine, endLine, startByte, endByte, hash } = node
    const name = parent === null ? basename(path) : node.name
    const qualifiedName = parent === null ? path : node.qualifiedName
    const id = nodeId({ path, kind, qualifiedName, ordinal })
    const parentId = parent === null ? null : (made[parent]?.nodeId ?? null)
    const range = { startLine, endLine, startByte, endByte }
    made.push({ nodeId: id, kind, name, qualifiedName, path, language, ...range, parentId, hash })
  }
  return made
}
