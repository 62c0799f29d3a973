import { z } from 'zod'
import { ConductorState, maxObjectiveCharacters } from './agenda.ts'
import { GateRequest } from './gate.ts'
import { OperationId, ProjectId, RunId } from './id-schemas.ts'
import { operationStatuses } from './operation.ts'
import { type PartId, PartNote, PatchNote } from './patch-note.ts'
import { Publication } from './publication.ts'
import { RepoPath } from './repo-path.ts'
import { CommitId, RepositorySource } from './repository-source.ts'
import { RunEnvironment, ShellCommand } from './setup.ts'
import { anyControl } from './terminal-controls.ts'

/** Intake and discovery skip these unless a flag, a setting or a run's `include` asks for them. */
export const skipKinds = [
  'vendored',
  'generated',
  'submodules',
  'migrations',
  'snapshots',
  'ignored',
  'secrets',
] as const
export const SkipKind = z.enum(skipKinds)
export type SkipKind = z.infer<typeof SkipKind>

export const skipKindText: Readonly<Record<SkipKind, string>> = {
  vendored: 'folders and files of other projects',
  generated: 'files that a program wrote',
  submodules: 'submodules of git',
  migrations: 'database migrations',
  snapshots: 'snapshots that tests compare with',
  ignored: 'what .gitignore files name',
  secrets: 'files whose names say that they hold secrets: .env, *.pem, id_rsa and the like',
}

const runStatuses = ['queued', 'running', 'waiting', 'completed', 'failed', 'blocked', 'cancelled'] as const
export const RunStatus = z.enum(runStatuses)
export type RunStatus = z.infer<typeof RunStatus>

export const endedRunStatuses = ['completed', 'failed', 'blocked', 'cancelled'] as const
export type EndedRunStatus = (typeof endedRunStatuses)[number]

export const runPhases = ['snapshot', 'discovery', 'planning', 'execution', 'review'] as const
export const RunPhase = z.enum(runPhases)
export type RunPhase = z.infer<typeof RunPhase>

export const ErrorPolicyName = z.enum(['continue', 'skip_downstream', 'stop_run'])
export type ErrorPolicyName = z.infer<typeof ErrorPolicyName>

export const AcceptPolicy = z.enum(['none', 'auto'])
export type AcceptPolicy = z.infer<typeof AcceptPolicy>

export const maxSelectedNodes = 50_000

export const maxNotSentFiles = 1_000

const isPlain = (text: string) => !anyControl.test(text)

export const NotSentFile = z.strictObject({
  path: RepoPath.refine(isPlain, 'has a control character'),
  reason: z.string().min(1).max(200).refine(isPlain, 'has a control character'),
})
export type NotSentFile = z.infer<typeof NotSentFile>

/** The highest limit of the runs of a token that have not ended: each submission of the token looks at all of them. */
export const maxOpenRuns = 1_000

/** Bounds the tokens of a budget: the most is more than anyone has, and few enough for exact sums. */
export const BudgetTokens = z.int().min(1).max(1_000_000_000_000)

/** Holds what the caller asks for: the `request` of a submission (schema `RunRequest` of the OpenAPI document). */
export const RunRequest = z.strictObject({
  /** None: with an objective any that this service has. */
  agents: z.array(z.string().min(1).max(64)).max(32),
  /** Says what the run is to reach: a conductor decides what is done where (domain/agenda.ts). */
  objective: z.string().trim().min(1).max(maxObjectiveCharacters).optional(),
  /** `plan`: nothing of the first plan is carried out before a person has approved it. */
  approval: z.literal('plan').optional(),
  paths: z.array(z.string().min(1).max(1024)).max(100).optional(),
  /** Globs or folders that the run leaves out, in addition to those of the settings. */
  exclude: z.array(z.string().min(1).max(1024)).max(100).optional(),
  languages: z.array(z.string()).max(32).optional(),
  nodeKinds: z.array(z.string()).max(32).optional(),
  /** The repository of a code host that the code is fetched from; absent: it was uploaded. */
  repository: RepositorySource.optional(),
  /** Limits the run to these nodes: their number, and the hash of their list (store/objects/node-selection.ts). */
  nodes: z.strictObject({ hash: z.string(), count: z.int().min(0) }).optional(),
  /** Files that the client has left out: their number, and the hash of their list (store/objects/not-sent-files.ts). */
  notSent: z.strictObject({ hash: z.string(), count: z.int().min(0) }).optional(),
  /** Names kinds of files to work on although they are skipped by default. */
  include: z.array(SkipKind).max(skipKinds.length).optional(),
  errorPolicy: ErrorPolicyName.default('skip_downstream'),
  /** Ends the run once it is planned: no operation runs. */
  dryRun: z.boolean().default(false),
  limits: z.strictObject({ operations: z.int().min(1).optional() }).default({}),
  /** Once its agents have used so many tokens, prompts and replies together, no more of its operations with a model start. */
  budget: z.strictObject({ tokens: BudgetTokens }).optional(),
  priority: z.int().min(0).max(9).default(5),
  /** `auto`: at its end the run accepts the changes that have the evidence their bundle asks for (`accept_when`); absent: none. */
  accept: AcceptPolicy.optional(),
  /** Names the gate that its changes must not make worse; without it nothing is run. */
  verify: GateRequest.optional(),
  /** Makes the environment of its programs; without it the setup counts that a bundle of the run names, if any does. */
  setup: ShellCommand.optional(),
  labels: z.record(z.string().max(64), z.string().max(256)).default({}),
})
export type RunRequest = z.infer<typeof RunRequest>

/** Says what a generation does once more: operations, codes, or all that did not end well; `unplanned` adds what was not planned before. */
export const WantedWork = z.strictObject({
  operations: z.array(OperationId).max(1000).optional(),
  codes: z.array(z.string().min(1).max(64)).min(1).max(100).optional(),
  unplanned: z.literal(true).optional(),
  /** Rejections ask for it: a run that ended well does not fail where none of that work can be planned any more. */
  byDecisions: z.literal(true).optional(),
})
export type WantedWork = z.infer<typeof WantedWork>

/** Returns the weight of its share among the runs of its project: priority 0 gets ten times what priority 9 gets. */
export function weightOf(priority: RunRequest['priority']): number {
  return 10 - priority
}

/** The schema number of a run. Code that knows only lower numbers refuses the run (RUN_005). */
export const runSchema = 1

/** A model that is away and that a run needs. `since`: milliseconds since the epoch. */
export const AwayModel = z.object({
  /** Names it as bundles do, with `default` for the workers' own. */
  model: z.string(),
  since: z.number(),
  bundles: z.array(z.string()),
})
export type AwayModel = z.infer<typeof AwayModel>

/** A budget, in tokens, that is used up. That of the project is for the day and ends at `resetsAt`. `holds`: it has kept something back. */
export const UsedBudget = z.object({
  of: z.enum(['run', 'project']),
  limit: z.number(),
  used: z.number(),
  /** The least that waits for it, where something is left and it is too little. */
  needs: z.number().nullable().default(null),
  since: z.number(),
  resetsAt: z.number().nullable().default(null),
  holds: z.boolean(),
})
export type UsedBudget = z.infer<typeof UsedBudget>

/** Says why a run stops early. `policy`: an operation failed under `stop_run`. `letsFinish`: the operations that run may finish. */
export const RunStop = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('request'), reason: z.string(), by: z.string(), letsFinish: z.boolean() }),
  z.strictObject({ kind: z.literal('fault'), reason: z.string(), errorCode: z.string() }),
  z.strictObject({ kind: z.literal('policy'), operationId: OperationId }),
])
export type RunStop = z.infer<typeof RunStop>

/** Counts operations whose change sets are read, then files that are proved; `files` is 0 until all operations are read. */
export const CompositionProgress = z.object({
  operationsRead: z.int().min(0),
  operations: z.int().min(0),
  /** Runs of the gate's command so far, and the most that it may make; absent before it begins. */
  gateRuns: z.int().min(0).optional(),
  gateMost: z.int().min(0).optional(),
  filesProved: z.int().min(0),
  files: z.int().min(0),
})
export type CompositionProgress = z.infer<typeof CompositionProgress>

/** `proposed`: all changes that nobody has rejected. `accepted`: those that were accepted. */
export const PatchKind = z.enum(['proposed', 'accepted'])
export type PatchKind = z.infer<typeof PatchKind>

/** A patch that is asked for: with `part` only these of the accepted change sets. */
export type WantedPatch = { of: PatchKind; part?: PartId | undefined }

/** The state of a run in the ledger. Times are milliseconds since the epoch, by Redis' clock. */
export const Run = z.strictObject({
  runId: RunId,
  schema: z.int(),
  projectId: ProjectId,
  status: RunStatus,
  phase: RunPhase,
  /** Counts how often its work was planned: once more when it was reopened, or when changes collided. It ends at most once in each. */
  generation: z.int().min(1).default(1),
  /** Says what the last reopening asks for; null for a run that was never reopened. */
  wanted: WantedWork.nullable().default(null),
  reopenedAt: z.number().nullable().default(null),
  /** Names the command of the last reopening. */
  reopenedBy: z.string().nullable().default(null),
  /** Open questions about the run itself, which it does not wait for; and whether one was answered with the wish to retry what has failed. */
  ownQuestions: z.int().default(0),
  wantsRetry: z.boolean().default(false),
  request: RunRequest,
  /** The request's, or that of the last reopening which had one. */
  errorPolicy: ErrorPolicyName.default('skip_downstream'),
  uploadKey: z.string(),
  snapshotId: z.string().nullable(),
  commit: CommitId.nullable().default(null),
  /** The snapshot of the commit that it is compared with, if it is compared with one. */
  baseSnapshotId: z.string().nullable().default(null),
  compositionKey: z.string().nullable(),
  /** The patches that were composed since, as decisions were made. */
  patches: z.partialRecord(PatchKind, PatchNote).default({}),
  /** Parts of what was accepted that somebody asked for, those that were noted longest ago first. */
  parts: z.array(PartNote).default([]),
  /** Is null before a worker composes it, and from its end on. */
  composing: CompositionProgress.nullable().default(null),
  /** Is the hash of the list of its code nodes (store/objects/node-list.ts); null until discovery is done. */
  nodeListKey: z.string().nullable(),
  /** Is the hash of the list of their edges (store/objects/edge-list.ts); null until then. */
  edgeListKey: z.string().nullable(),
  /** Is the hash of the repository's own rules (store/objects/repository-rules.ts); null until the run is planned. */
  rulesKey: z.string().nullable(),
  /** Is the hash of the summary of its plan (store/objects/plan-summary.ts); null until it is planned. */
  planKey: z.string().nullable(),
  planHash: z.string().nullable(),
  /** Is null for a run without a setup, and before it is planned. */
  environment: RunEnvironment.nullable().default(null),
  /** Is true once all its operations are known, or a conductor decides on them. */
  isPlanned: z.boolean(),
  /** Is null for a run whose work no conductor decides on. */
  conductor: ConductorState.nullable().default(null),
  /** The bundles of its plan, once chosen. */
  bundleHashes: z.array(z.string()).nullable(),
  /** Lists those of them with operations of agents, which need a model; null while none is planned. */
  agentBundles: z.array(z.string()).nullable().default(null),
  seq: z.int().min(0),
  nodes: z.int().min(0),
  files: z.int().min(0),
  /** Lists the models that the run waits for; other operations may still move. */
  away: z.array(AwayModel).default([]),
  /** Bounds the tokens that it may use; null for any number. */
  budget: z.number().nullable().default(null),
  /** Counts the tokens that it has used, attempts that go on or were lost included: sent, received, and both together. */
  tokensIn: z.number().default(0),
  tokensOut: z.number().default(0),
  tokens: z.number().default(0),
  /** Counts those of them that its conductor, its watcher and asks have used. */
  tokensBesides: z.number().default(0),
  /** Counts the tokens that requests under way may use at most, where there is a budget; no budget counts them as left. */
  reserved: z.number().default(0),
  /** Is what its requests reserve, in the mean; null before the first one that has a budget. */
  bound: z.number().nullable().default(null),
  /** Is the least that did not fit while nothing was under way; null since something fitted. */
  lacking: z.number().nullable().default(null),
  /** Counts what it was granted of its project's days, and has given back; null while the project has no budget. */
  day: z.object({ granted: z.number().nullable(), returned: z.number() }).default({ granted: null, returned: 0 }),
  /** Counts the findings that its operations have reported. */
  findings: z.number().default(0),
  /** Lists the budgets that it waits for; work without a model may still move. */
  usedBudgets: z.array(UsedBudget).default([]),
  /** Is set when no further operation may start; the run ends once those in progress have ended. */
  stop: RunStop.nullable(),
  traceparent: z.string().nullable(),
  acceptedAt: z.number(),
  endedAt: z.number().nullable(),
  errorCode: z.string().nullable(),
  reason: z.string().nullable(),
  counts: z.record(z.enum(operationStatuses), z.int().min(0)),
  /** Counts the waiting operations that wait for a tool, and not for a person. */
  deferred: z.int().min(0).default(0),
  /** Keeps what was made of it at its code host; null when that is nothing, or it has none. */
  publication: Publication.nullable().default(null),
  /** Names what of it neither the API nor the publisher has signed, as far as the reader can tell that. */
  unsigned: z.array(z.enum(['request', 'publication'])).default([]),
})
export type Run = z.infer<typeof Run>

/** Returns when its present generation was asked for, in milliseconds since the epoch. */
export function begunAt({ reopenedAt, acceptedAt }: Pick<Run, 'reopenedAt' | 'acceptedAt'>): number {
  return reopenedAt ?? acceptedAt
}

/** Returns how many tokens may be reserved now, by its budget and its part of its project's day. */
export function roomOf({ budget, day, tokens, reserved }: Pick<Run, 'budget' | 'day' | 'tokens' | 'reserved'>): number {
  const ofDay = day.granted === null ? Infinity : day.granted - day.returned
  return Math.max(0, Math.min(budget ?? Infinity, ofDay) - tokens - reserved)
}

/** Is true when workers may work on it now. */
export function isExecuting({ phase, stop, status }: Pick<Run, 'phase' | 'stop' | 'status'>): boolean {
  return phase === 'execution' && stop === null && !isEnded(status)
}

export function isEnded(status: RunStatus): status is EndedRunStatus {
  return endedRunStatuses.some((ended) => ended === status)
}
