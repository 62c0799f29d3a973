import { z } from 'zod'
import { NodeId } from '#domain/ids.ts'
import { RepoPath } from '#domain/repo-path.ts'

/** What a query pack calls a node: file, class, function, method, section … Packs may bring their own. */
export const NodeKind = z.string().regex(/^[a-z][a-z0-9_]*$/)
export type NodeKind = z.infer<typeof NodeKind>

/** The name of a query pack, which is that of its folder. */
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

/** A file discovery passed over, with the reason a person reads. */
export const SkippedFile = z.strictObject({ path: z.string(), reason: z.string() })
export type SkippedFile = z.infer<typeof SkippedFile>
