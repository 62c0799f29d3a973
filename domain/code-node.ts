import { z } from 'zod'
import { NodeId } from './id-schemas.ts'
import { RepoPath } from './repo-path.ts'
import { snakeKeys } from './wire-keys.ts'

/** The kind that a query pack gives a node: file, class, function, method, section … A pack may define its own. */
export const NodeKind = z.string().regex(/^[a-z][a-z0-9_]*$/)
export type NodeKind = z.infer<typeof NodeKind>

/** The name of a query pack: the name of its folder. */
export const PackName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, 'must be the name of a pack: letters, digits, "_", "-", "."')

/**
 * A named piece of source. Lines are 1-based and inclusive, bytes 0-based and end-exclusive, both of the file as it is
 * stored. `hash` is the SHA-256 of the node's bytes. `parentId` is the nearest enclosing node; a file has none.
 */
export const CodeNode = z.strictObject({
  nodeId: NodeId,
  kind: NodeKind,
  name: z.string(),
  qualifiedName: z.string(),
  path: RepoPath,
  language: z.string(),
  startLine: z.int().min(1),
  endLine: z.int().min(1),
  startByte: z.int().min(0),
  endByte: z.int().min(0),
  parentId: NodeId.nullable(),
  hash: z.string(),
})
export type CodeNode = z.infer<typeof CodeNode>

export const SkippedFile = z.strictObject({ path: z.string(), reason: z.string() })
export type SkippedFile = z.infer<typeof SkippedFile>

/** A code node as `remora discover --json` and the API show it. */
export const NodeView = z.strictObject({ ...snakeKeys(CodeNode.shape), path: z.string() })
export type NodeView = z.infer<typeof NodeView>

export function nodeView(node: CodeNode): NodeView {
  return snakeKeys(node)
}

export const EdgeKind = z.enum(['imports', 'calls', 'inherits', 'tests'])
export type EdgeKind = z.infer<typeof EdgeKind>

/** `exact`: by the language's own rules, without running the code. `by_name`: nothing else in the repository has that name. */
export const EdgeCertainty = z.enum(['exact', 'by_name'])

export const Edge = z.strictObject({ from: NodeId, to: NodeId, kind: EdgeKind, certainty: EdgeCertainty })
export type Edge = z.infer<typeof Edge>

/** `out`: this node needs the other. `in`: the other needs this one. */
export const EdgeDirection = z.enum(['out', 'in'])
export type EdgeDirection = z.infer<typeof EdgeDirection>

export const EdgeEnd = CodeNode.pick({
  nodeId: true,
  kind: true,
  qualifiedName: true,
  path: true,
  startLine: true,
  endLine: true,
})

export const NodeEdge = z.strictObject({
  direction: EdgeDirection,
  kind: EdgeKind,
  certainty: EdgeCertainty,
  node: EdgeEnd,
})
export type NodeEdge = z.infer<typeof NodeEdge>
