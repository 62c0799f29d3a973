import { z } from 'zod'
import { SkippedFile } from '#domain/code-node.ts'
import { endedRunStatuses } from '#domain/run.ts'

// What the API answers about runs, as far as the command line uses it; node-views.ts and operation-views.ts have the rest.
// Unknown keys are kept: `--json` prints all that the service sends.

/** ISO 8601, not parsed. */
export const Time = z.string().nullish()

/** The cursor of the next page of a list (for runs, its `before`); null on the last page. */
export const next = z.string().nullable()

const ConflictingSet = z.looseObject({
  change_set_id: z.string(),
  operation_id: z.string(),
  agent: z.string().optional(),
  node: z.object({ path: z.string(), qualified_name: z.string() }).optional(),
  lines: z.object({ first: z.int(), last: z.int() }).optional(),
  /** What it makes of these lines, or of the new file; the first 4,000 characters. */
  text: z.string().optional(),
})
export type ConflictingSet = z.infer<typeof ConflictingSet>

/** A change set that is not in the patch, and the one it conflicts with. */
export const LeftOut = ConflictingSet.extend({
  path: z.string(),
  error_code: z.string(),
  reason: z.string(),
  with: ConflictingSet.optional(),
  /** It breaks the file without any other. */
  by_itself: z.boolean().optional(),
})
export type LeftOut = z.infer<typeof LeftOut>

const AwayServer = z.looseObject({
  url: z.string(),
  has_answered: z.boolean(),
  last_error: z.string().nullable(),
  next_probe: Time,
})

/**
 * What a run waits for: a model that is away (`models`), answers of people (`answer`), the object store (`store`), tokens (`budget`),
 * or what a newer service adds.
 */
const WaitingFor = z.looseObject({
  kind: z.string(),
  model: z.string().optional(),
  since: Time,
  servers: z.array(AwayServer).default([]),
  questions: z.number().optional(),
  state: z.string().optional(),
  message: z.string().optional(),
  of: z.string().optional(),
  limit: z.number().optional(),
  used: z.number().optional(),
  resets_at: Time,
})
export type WaitingFor = z.infer<typeof WaitingFor>

/** How far the composition of a run is; services of earlier versions do not say. */
export const Composing = z.looseObject({
  operations_read: z.int(),
  operations: z.int(),
  files_proved: z.int(),
  files: z.int(),
  /** Runs of the gate's command so far, and the most that it may make. */
  gate_runs: z.int().optional(),
  gate_most: z.int().optional(),
})
export type Composing = z.infer<typeof Composing>

/** What a run may use, null for any number, and has used. */
export const BudgetView = z.looseObject({ tokens: z.number().nullable(), used: z.number() })
export type BudgetView = z.infer<typeof BudgetView>

const PullView = z.looseObject({ number: z.int(), url: z.string(), branch: z.string(), state: z.string() })

/** Where the code of a run was fetched from. */
export const RepositoryView = z.looseObject({
  host: z.string(),
  owner: z.string(),
  name: z.string(),
  ref: z.string(),
  commit: z.string().nullable(),
  branch: z.string().optional(),
})

export const PublicationView = z.looseObject({
  pulls: z.array(PullView),
  fault: z.looseObject({ error_code: z.string(), reason: z.string() }).optional(),
})

/** A run as the list has it. */
export const RunSummary = z.looseObject({
  run_id: z.string(),
  project_id: z.string().optional(),
  status: z.string(),
  phase: z.string(),
  /** Of its last event. */
  seq: z.int(),
  request: z.looseObject({
    paths: z.array(z.string()).optional(),
    agents: z.array(z.string()),
    include: z.array(z.string()).optional(),
    error_policy: z.string().optional(),
    priority: z.number().optional(),
    accept: z.string().optional(),
    retry_of: z.string().optional(),
    codes: z.array(z.string()).optional(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
  counts: z.record(z.string(), z.number()),
  /** A service of an earlier version says nothing. */
  findings: z.number().default(0),
  waiting_for: z.array(WaitingFor).default([]),
  composing: Composing.nullish(),
  /** A service of an earlier version has none. */
  budget: BudgetView.optional(),
  /** Of a run whose code was fetched; a service of an earlier version fetches none. */
  repository: RepositoryView.nullish(),
  publication: PublicationView.nullish(),
  accepted_at: Time,
  ended_at: Time,
  duration_ms: z.number().nullish(),
  error_code: z.string().nullish(),
  reason: z.string().nullish(),
})
export type RunSummary = z.infer<typeof RunSummary>

/** An error code of failed and blocked operations, how many have it, and the first of them. */
const FailureView = z.looseObject({
  error_code: z.string().nullable(),
  /** A service of an earlier version names the operations one by one. */
  count: z.int().default(1),
  operation_id: z.string(),
  agent: z.string(),
  path: z.string(),
  qualified_name: z.string(),
  reason: z.string().nullable(),
})
export type FailureView = z.infer<typeof FailureView>

const FunnelView = z.looseObject({
  agent: z.string(),
  /** Null while the run is not composed, as are the next two. */
  generated: z.int().nullable(),
  valid: z.int().nullable(),
  verified: z.int().nullable(),
  accepted: z.int(),
  accepted_unverified: z.int().default(0),
  rejected: z.int(),
  /** A service of an earlier version does not say it. */
  merged: z.int().default(0),
})

/** What the run's gate found. */
const GateView = z.looseObject({
  command: z.string(),
  verdict: z.string(),
  reason: z.string().optional(),
  tests: z.number().nullable(),
  failing: z.array(z.string()),
  failing_total: z.number(),
  runs: z.number(),
  outputs: z.array(z.looseObject({ change_sets: z.number(), ending: z.string(), output: z.string() })).default([]),
  duration_ms: z.number(),
  left_out: z.number(),
})
export type GateView = z.infer<typeof GateView>

/** What the run's setup made. */
const EnvironmentView = z.looseObject({
  status: z.string(),
  command: z.string(),
  cached: z.boolean().optional(),
  bytes: z.number().optional(),
  duration_ms: z.number().optional(),
  reason: z.string().optional(),
  output: z.string().optional(),
})
export type EnvironmentView = z.infer<typeof EnvironmentView>

const CheckView = z.object({
  ok: z.number(),
  total: z.number(),
  with_errors: z.number().optional(),
  in_part: z.number().optional(),
  not_checked: z.number().optional(),
  planted: z.number().optional(),
  noticed: z.number().optional(),
})

export const RunView = RunSummary.extend({
  /** Per check, over the files of the composed patch. */
  checks: z.record(z.string(), CheckView).default({}),
  gate: GateView.nullish(),
  environment: EnvironmentView.nullish(),
  conflicts: z.number().default(0),
  /** By agent; a service of an earlier version says nothing. */
  funnel: z.array(FunnelView).default([]),
  left_out: z.array(LeftOut).default([]),
  /** Accepted change sets that the accepted patch leaves out. */
  accepted_left_out: z.int().default(0),
  /** What the service could not read of this just now, since its object store is away. */
  unread: z.array(z.string()).default([]),
  /** Files that were skipped or not sent: how many, and the first of them. */
  skipped: z.number().default(0),
  skipped_files: z.array(SkippedFile).default([]),
  /** By error code, the commonest first. */
  failures: z.array(FailureView).default([]),
  /** A service of an earlier version says neither. */
  retried_by: z.string().nullable().default(null),
  retry_wanted: z.int().default(0),
})
export type RunView = z.infer<typeof RunView>

/** What is in a patch, and what is left out of it: how many, and the first of them. */
export const PatchSets = z.looseObject({
  change_sets: z.int(),
  left_out_count: z.int(),
  left_out: z.array(LeftOut),
  gate: GateView.nullish(),
})
export type PatchSets = z.infer<typeof PatchSets>

/** The commits of a patch: what each changes of the one before it. What a file was changed from has the name that git gives it. */
export const PlannedCommits = z.looseObject({
  branch: z.string().nullable(),
  commits: z.array(
    z.looseObject({
      agent: z.string(),
      message: z.string(),
      change_set_ids: z.array(z.string()),
      files: z.array(
        z.looseObject({
          path: z.string(),
          executable: z.boolean(),
          changes_mode: z.boolean(),
          content_base64: z.string().nullable(),
          base_sha1: z.string().nullable(),
          change_set_ids: z.array(z.string()),
        }),
      ),
    }),
  ),
  pull_request: z.looseObject({ title: z.string(), body: z.string(), is_draft: z.boolean() }).nullish(),
})
export type PlannedCommits = z.infer<typeof PlannedCommits>

export const RunPage = z.object({ runs: z.array(RunSummary), next })

export const RunAccepted = z.looseObject({ run_id: z.string(), status: z.string() })

export const WireEvent = z.looseObject({
  seq: z.int(),
  ts: z.iso.datetime(),
  event: z.string(),
  operation_id: z.string().optional(),
  agent: z.string().optional(),
  duration_ms: z.number().optional(),
  error_code: z.string().optional(),
  data: z.record(z.string(), z.unknown()),
})
export type WireEvent = z.infer<typeof WireEvent>

export const EventPage = z.object({
  events: z.array(WireEvent),
  next_after: z.int(),
  run_status: z.string(),
  composing: Composing.nullish().transform((composing) => composing ?? undefined),
})
export type EventPage = z.infer<typeof EventPage>

/** Whether a run of this status has ended. */
export function hasEnded(status: string): boolean {
  return endedRunStatuses.some((ended) => ended === status)
}

const UsageFigures = z.looseObject({
  operations: z.number(),
  turns: z.number(),
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  duration_ms: z.number(),
})
export const UsageView = z.looseObject({
  since: z.string(),
  until: z.string(),
  by: z.string(),
  rows: z.array(UsageFigures.extend({ of: z.string() })),
  total: UsageFigures,
})
export type UsageView = z.infer<typeof UsageView>
