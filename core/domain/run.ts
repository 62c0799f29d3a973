import { z } from 'zod'
import { OperationId, ProjectId, RunId } from '#domain/ids.ts'
import { operationStatuses } from '#domain/operation.ts'
import { SkipKind, skipKinds } from '#domain/skip-kind.ts'

const runStatuses = ['queued', 'running', 'waiting', 'completed', 'blocked', 'failed', 'cancelled'] as const
export const RunStatus = z.enum(runStatuses)
export type RunStatus = z.infer<typeof RunStatus>

export const endedRunStatuses = ['completed', 'blocked', 'failed', 'cancelled'] as const
export type EndedRunStatus = (typeof endedRunStatuses)[number]

export const runPhases = ['snapshot', 'discovery', 'planning', 'execution', 'review', 'publication'] as const
export const RunPhase = z.enum(runPhases)
export type RunPhase = z.infer<typeof RunPhase>

export const ErrorPolicyName = z.enum(['continue', 'skip_downstream', 'stop_run'])
export type ErrorPolicyName = z.infer<typeof ErrorPolicyName>

/** The most nodes that a request may name one by one. */
export const maxSelectedNodes = 50_000

/** What the caller asks for, as the API and the job see it (contract.md §2 `request`). */
export const RunRequest = z.strictObject({
  agents: z.array(z.string().min(1).max(64)).min(1).max(32),
  paths: z.array(z.string().min(1).max(1024)).max(100).optional(),
  /** Globs or folders that the run leaves out, besides those that the settings leave out. */
  exclude: z.array(z.string().min(1).max(1024)).max(100).optional(),
  languages: z.array(z.string()).max(32).optional(),
  nodeKinds: z.array(z.string()).max(32).optional(),
  /** Only these nodes are worked on: how many, and the hash of their list (core/objects/node-selection.ts). */
  nodes: z.strictObject({ hash: z.string(), count: z.int().min(0) }).optional(),
  /** Kinds of files that are worked on although they are skipped by default. */
  include: z.array(SkipKind).max(skipKinds.length).optional(),
  accept: z.enum(['none', 'auto']).default('none'),
  errorPolicy: ErrorPolicyName.default('skip_downstream'),
  /** Ends the run when it is planned: nothing is carried out. */
  dryRun: z.boolean().default(false),
  limits: z.strictObject({ operations: z.int().min(1).optional() }).default({}),
  priority: z.int().min(0).max(9).default(5),
  labels: z.record(z.string().max(64), z.string().max(256)).default({}),
  /** The ended run on whose upload this one tries again what did not go well there. */
  retryOf: RunId.optional(),
  /** Of a retry: only these; without, all that did not end well. */
  operations: z.array(OperationId).max(1000).optional(),
})
export type RunRequest = z.infer<typeof RunRequest>

/** The schema number written into every run; code that knows only older ones refuses the run (RUN_005). */
export const runSchema = 3

/**
 * Asked for, by an origin's `kind/id`; or a stage could not go on; or an operation failed under the policy `stop_run`.
 */
export const RunStop = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('request'), reason: z.string(), by: z.string() }),
  z.strictObject({ kind: z.literal('fault'), reason: z.string(), errorCode: z.string() }),
  z.strictObject({ kind: z.literal('policy'), operationId: OperationId }),
])
export type RunStop = z.infer<typeof RunStop>

/** The state of a run as the ledger keeps it. Times are milliseconds since the epoch, by Redis' clock. */
export const Run = z.strictObject({
  runId: RunId,
  schema: z.int(),
  projectId: ProjectId,
  status: RunStatus,
  phase: RunPhase,
  request: RunRequest,
  uploadKey: z.string(),
  snapshotId: z.string().nullable(),
  compositionKey: z.string().nullable(),
  /** Hash of the list of its code nodes (core/objects/node-list.ts); null until discovery is done. */
  nodeListKey: z.string().nullable(),
  /** Hash of the list of their edges (core/objects/edge-list.ts); null until then, and where an earlier version found them. */
  edgeListKey: z.string().nullable(),
  /** Hash of what the repository says about its files (core/objects/repository-rules.ts); null until the run is planned. */
  rulesKey: z.string().nullable(),
  /** Hash of the summary of its plan (core/objects/plan-summary.ts); null until it is planned. */
  planKey: z.string().nullable(),
  planHash: z.string().nullable(),
  /** All its operations are known. */
  isPlanned: z.boolean(),
  /** The bundles it is planned with, once that is decided. */
  bundleHashes: z.array(z.string()).nullable(),
  seq: z.int().min(0),
  nodes: z.int().min(0),
  files: z.int().min(0),
  /** Why nothing of the run starts any more; it ends when what is under way has. */
  stop: RunStop.nullable(),
  traceparent: z.string().nullable(),
  acceptedAt: z.number(),
  endedAt: z.number().nullable(),
  errorCode: z.string().nullable(),
  reason: z.string().nullable(),
  counts: z.record(z.enum(operationStatuses), z.int().min(0)),
})
export type Run = z.infer<typeof Run>

export function isEnded(status: RunStatus): status is EndedRunStatus {
  return endedRunStatuses.some((ended) => ended === status)
}
