import { z } from 'zod'
import { CodeNode } from './code-node.ts'
import { NodeId } from './ids.ts'

export const EdgeKind = z.enum(['imports', 'calls', 'inherits', 'tests'])
export type EdgeKind = z.infer<typeof EdgeKind>

/**
 * `exact`: by the language's own rules, as far as they can be followed without running it. `by_name`: nothing else in the
 * repository goes by that name.
 */
export const EdgeCertainty = z.enum(['exact', 'by_name'])

/** That one node needs another. */
export const Edge = z.strictObject({ from: NodeId, to: NodeId, kind: EdgeKind, certainty: EdgeCertainty })
export type Edge = z.infer<typeof Edge>

/** `out`: the node needs the other one. `in`: the other one needs it. */
export const EdgeDirection = z.enum(['out', 'in'])
export type EdgeDirection = z.infer<typeof EdgeDirection>

/** What is told of the node at the other end of an edge: enough to name it and to read it in its file. */
export const EdgeEnd = CodeNode.pick({
  nodeId: true,
  kind: true,
  qualifiedName: true,
  path: true,
  startLine: true,
  endLine: true,
})

/** An edge as one of its two nodes sees it. */
export const NodeEdge = z.strictObject({
  direction: EdgeDirection,
  kind: EdgeKind,
  certainty: EdgeCertainty,
  node: EdgeEnd,
})
export type NodeEdge = z.infer<typeof NodeEdge>
