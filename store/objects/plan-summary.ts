import { z } from 'zod'
import { SkippedFile } from '#domain/code-node.ts'
import { objectKeys } from './object-keys.ts'
import { runRecords } from './object-store.ts'

/** Says what planning decided for one agent of a run. Tokens are estimates, of prompts and replies together. */
export const AgentPlan = z.strictObject({
  lookedAt: z.int(),
  planned: z.int(),
  mechanical: z.int(),
  estimatedTokens: z.int(),
  /** The numbers of nodes without an operation, by reason, the commonest first; together with the nodes that have one they are all nodes that the agent looked at. */
  skipped: z.array(z.strictObject({ reason: z.string(), count: z.int(), examples: z.array(z.string()) })),
  /** Operations by the folder of their file, sorted by path. */
  folders: z.array(z.strictObject({ path: z.string(), planned: z.int(), estimatedTokens: z.int() })),
})
export type AgentPlan = z.infer<typeof AgentPlan>

/** Says what a run's planning decided, stored once for people: `remora run --dry-run` shows it. */
export const PlanSummary = z.strictObject({
  v: z.literal(1),
  /** Distinct nodes that any agent looked at. */
  nodesLookedAt: z.int(),
  /** Operations that the request's limit cut off. */
  beyondLimit: z.int(),
  /** Nodes that agents would have looked at, had they changed; absent in runs that are compared with nothing. */
  unchanged: z.int().optional(),
  agents: z.record(z.string(), AgentPlan),
  /** The first thousand paths that discovery skipped. */
  skippedFiles: z.array(SkippedFile),
  /** Parts of the repository's configuration that cannot be applied, and code that agents leave unchanged. */
  notices: z.array(z.string()),
})
export type PlanSummary = z.infer<typeof PlanSummary>

export const { put: putPlanSummary, get: getPlanSummary } = runRecords(objectKeys.planSummary, PlanSummary)
