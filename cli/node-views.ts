import { z } from 'zod'
import { EdgeCertainty, EdgeDirection, EdgeKind, NodeView, SkippedFile } from '#domain/code-node.ts'
import { next } from './run-views.ts'

export const NodePage = z.object({ nodes: z.array(NodeView), next })

const end = NodeView.pick({
  node_id: true,
  kind: true,
  qualified_name: true,
  path: true,
  start_line: true,
  end_line: true,
})

/** An edge from the point of view of the node that was asked about. */
export const EdgeView = z.looseObject({
  direction: EdgeDirection,
  kind: EdgeKind,
  certainty: EdgeCertainty,
  node: end.loose(),
})
export type EdgeView = z.infer<typeof EdgeView>

export const EdgePage = z.object({ edges: z.array(EdgeView), next })

/** `edges`: their numbers; null where an earlier version found the node. */
export const NodeDetail = z.looseObject({
  ...NodeView.shape,
  edges: z.object({ out: z.number(), in: z.number() }).nullable().default(null),
  operations: z.array(
    z.looseObject({
      operation_id: z.string(),
      agent: z.string(),
      status: z.string(),
      /** The operation that it does once more. */
      repeats: z.string().nullable().default(null),
    }),
  ),
})
export type NodeDetail = z.infer<typeof NodeDetail>

const SkippedNodes = z.looseObject({
  reason: z.string(),
  count: z.int(),
  /** Some of them, as `PATH NAME`. */
  examples: z.array(z.string()).default([]),
})

/** What a run would do (`remora run --dry-run`), by agent. */
export const PlanView = z.looseObject({
  /** Distinct nodes that any agent looked at; not of a run that an earlier version planned. */
  nodes_looked_at: z.int().optional(),
  /** Operations that the limit cut off. */
  beyond_limit: z.int().default(0),
  /** Nodes that were not looked at because they have not changed; absent where the run is compared with nothing. */
  unchanged: z.int().optional(),
  agents: z.record(
    z.string(),
    z.looseObject({
      looked_at: z.int(),
      /** Operations with a model. */
      planned: z.int(),
      /** Operations without one. */
      mechanical: z.int(),
      estimated_tokens: z.int(),
      skipped: z.array(SkippedNodes),
      folders: z.array(z.looseObject({ path: z.string(), planned: z.int(), estimated_tokens: z.int() })),
    }),
  ),
  skipped_files: z.array(SkippedFile),
  notices: z.array(z.string()),
})
export type PlanView = z.infer<typeof PlanView>
