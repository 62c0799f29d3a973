import { z } from '@hono/zod-openapi'
import { evidenceChecks } from '#domain/change-set.ts'
import { SkippedFile } from '#domain/code-node.ts'
import { OperationId, ProjectId, RunId } from '#domain/ids.ts'
import { OperationStatus, operationStatuses, OperationWork } from '#domain/operation.ts'
import { AcceptPolicy, ErrorPolicyName, RunPhase, RunRequest, RunStatus, SkipKind } from '#domain/run.ts'
import { LineRange } from '#objects/composition.ts'
import { named, orNull, Time } from '../http/schema-parts.ts'
import { GateShape, GateView } from './gate-schema.ts'
import { PublicationView, RepositoryView } from './publication-schema.ts'
import { EnvironmentView, SetupShape } from './setup-schema.ts'
import { WaitingFor } from './waiting-schema.ts'

const lines = named('LineRange', LineRange, { description: 'lines of the file before the run, from 1, both included' })
const CodePlace = z.strictObject({ path: z.string(), qualified_name: z.string() }).openapi('CodePlace')

/** Agent, code and lines are absent for runs of earlier versions; lines also where no file is edited. */
const ConflictingSet = z.strictObject({
  change_set_id: z.string(),
  operation_id: z.string(),
  agent: z.string().optional(),
  node: CodePlace.optional(),
  lines: lines.optional(),
  text: z
    .string()
    .optional()
    .openapi({ description: 'what it makes of these lines, or of the new file; at most 4,000 characters' }),
})

/** A change set that is not in the composed patch, why, and the change set that keeps it out, if it is one. */
export const LeftOut = z
  .strictObject({
    ...ConflictingSet.shape,
    path: z.string(),
    error_code: z.enum(['WORK_001', 'WORK_002', 'WORK_004', 'WORK_007']).openapi('ConflictCode'),
    reason: z.string(),
    with: ConflictingSet.openapi('ConflictingSet').optional(),
    by_itself: z.literal(true).optional().openapi({
      description:
        'it was tried without any other change set but those that it is built on; of WORK_004: it breaks the file; of WORK_007: a test fails',
    }),
  })
  .openapi('LeftOut')

const fields = RunRequest.shape

export const RunStatusShape = named('RunStatus', RunStatus)
export const OperationStatusShape = named('OperationStatus', OperationStatus)
export const OperationWorkShape = named('OperationWork', OperationWork, {
  description: 'Who does the work: an agent with a model, or a program that needs none.',
})
export const ErrorPolicyShape = named('ErrorPolicy', ErrorPolicyName, {
  description: 'What happens to the other operations when one fails. Default of a submission: skip_downstream.',
})
export const RunLimits = named('RunLimits', fields.limits.unwrap())
export const RunBudget = named('RunBudget', fields.budget.unwrap(), {
  description:
    'tokens of prompts and replies that its agents may use. Then no more of its operations with a model start until the budget is raised; those that run go on to their end',
})
export const Labels = named('Labels', fields.labels.unwrap())
export const SkipKindShape = named('SkipKind', SkipKind)
export const SkippedFileShape = named('SkippedFile', SkippedFile)

/** The `{run_id}` of an address. */
export const RunParams = z.object({ run_id: RunId })

export const RunLinks = z
  .strictObject({
    self: z.string(),
    events: z.string(),
    nodes: z.string(),
    operations: z.string(),
    changes: z.string(),
    findings: z.string(),
    decisions: z.string(),
    patch: z.string(),
    archive: z.string(),
    questions: z.string(),
  })
  .openapi('RunLinks')
export type RunLinks = z.infer<typeof RunLinks>

export const AcceptPolicyShape = named('AcceptPolicy', AcceptPolicy)

/** What was asked for, with the defaults filled in. */
export const RequestView = z
  .strictObject({
    agents: fields.agents,
    paths: fields.paths,
    languages: fields.languages,
    exclude: fields.exclude,
    node_kinds: fields.nodeKinds,
    include: z.array(SkipKindShape).optional(),
    selected_nodes: z.int().optional().openapi({ description: 'of a run that is limited to some nodes: how many' }),
    error_policy: ErrorPolicyShape,
    limits: RunLimits,
    budget: RunBudget.optional(),
    priority: z.int(),
    accept: AcceptPolicyShape,
    verify: GateShape.optional(),
    setup: SetupShape.optional(),
    labels: Labels,
    retry_of: fields.retryOf.meta({ description: 'the run that this one retries' }),
    operations: fields.operations.meta({ description: 'of a retry: only these' }),
    codes: fields.codes.meta({ description: 'of a retry: only what failed with one of these error codes' }),
  })
  .openapi('AcceptedRequest')

const OperationCounts = z
  .record(z.enum(operationStatuses), z.int())
  .openapi('OperationCounts', { description: 'operations by their status' })

/** How far the composition of a run's patch is. */
export const ComposingView = z
  .strictObject({
    operations_read: z.int().openapi({ description: 'operations whose change sets were read' }),
    operations: z.int(),
    files_proved: z.int().openapi({ description: 'changed files that were composed and checked again' }),
    files: z.int().openapi({ description: '0 until all operations are read' }),
    gate_runs: z.int().optional().openapi({ description: "runs of the gate's command so far" }),
    gate_most: z.int().optional().openapi({ description: 'the most that it may make' }),
  })
  .openapi('Composing', { description: 'how far the composition of the patch is; null before and after it' })

/** What a run may use, and has used. */
export const BudgetView = z
  .strictObject({
    tokens: z.int().nullable().openapi({ description: 'null: any number' }),
    used: z.int().openapi({
      description:
        'by answers of models so far, also in attempts that go on or were lost; what earlier versions used is not counted',
    }),
  })
  .openapi('Budget')

const RunState = z.strictObject({
  run_id: RunId,
  project_id: ProjectId,
  status: RunStatusShape,
  phase: named('RunPhase', RunPhase),
  request: RequestView,
  repository: orNull(RepositoryView),
  publication: orNull(PublicationView),
  counts: OperationCounts,
  open_questions: z.int().openapi({ description: 'that operations wait for' }),
  waiting_for: z.array(WaitingFor).openapi({
    description:
      'what it waits for, also while other operations move; it goes on by itself. Empty once it is stopped or has ended',
  }),
  budget: BudgetView,
  nodes: z.int(),
  files: z.int(),
  findings: z.int().openapi({
    description: 'how many its own operations have reported; those of a run that it retries are not counted',
  }),
  seq: z.int().openapi({ description: 'number of the last event' }),
  composing: orNull(ComposingView),
  environment: orNull(EnvironmentView),
  cancel_requested: z.boolean(),
  accepted_at: Time,
  ended_at: Time.nullable(),
  duration_ms: z.number().nullable().openapi({ description: 'null until the run has ended' }),
  error_code: z.string().nullable(),
  reason: z.string().nullable(),
  links: RunLinks,
})

/** A run as the list shows it. */
export const RunSummary = RunState.openapi('RunSummary')
export type RunSummary = z.infer<typeof RunSummary>

/** How many of the composed files a check was made on, and how many passed. */
const CheckView = z
  .strictObject({
    ok: z.int(),
    total: z.int(),
    with_errors: z.int().optional().openapi({ description: 'passed with errors that were there before' }),
    in_part: z.int().optional().openapi({
      description: 'passed by files of which only some change sets were asked for it: it says nothing of the others',
    }),
    not_checked: z.int().optional().openapi({ description: 'files it could not be made on; they are not in `total`' }),
    planted: z
      .int()
      .optional()
      .openapi({ description: 'of `tests_kill_mutants`: faults that were planted in the code' }),
    noticed: z.int().optional().openapi({ description: 'how many of these the tests noticed' }),
  })
  .openapi('Check')
export const FailureView = z
  .strictObject({
    error_code: z.string().nullable(),
    count: z.int().openapi({ description: 'how many operations failed or were blocked with this code' }),
    operation_id: OperationId,
    agent: z.string(),
    path: z.string(),
    qualified_name: z.string(),
    status: OperationStatusShape,
    reason: z.string().nullable(),
  })
  .openapi('Failure', { description: 'An error code, how often it occurred, and the first operation with it.' })
export type FailureView = z.infer<typeof FailureView>

const RunChecks = z
  .partialRecord(z.enum(evidenceChecks), CheckView)
  .openapi('RunChecks', { description: 'what was proved about the files of the composed patch' })

const UnreadPart = z.enum(['composition', 'skipped_files']).openapi('UnreadPart')

const FunnelView = z
  .strictObject({
    agent: z.string(),
    generated: z.int().nullable().openapi({
      description:
        'change sets made by the run and those that it retries, also by operations that failed with WORK_005; what was made again counts only if it is accepted. Null while the run is not composed, as are `valid` and `verified`',
    }),
    valid: z.int().nullable().openapi({
      description:
        'those of them that can be in a patch: they did not give way to another one, unless they are accepted instead, and broke no file when the run was composed; rejected ones, too',
    }),
    verified: z
      .int()
      .nullable()
      .openapi({ description: 'those of them whose every check has passed, with none missing' }),
    accepted: z.int().openapi({
      description:
        'those of them that are accepted now; while the run is not composed, all of its chain that are accepted',
    }),
    accepted_unverified: z.int().openapi({ description: 'accepted now and generated, but not verified' }),
    rejected: z.int().openapi({
      description:
        'of those generated, the ones that are rejected now; while the run is not composed, all of its chain',
    }),
    merged: z.int().openapi({ description: 'those that a merged pull request had' }),
  })
  .openapi('Funnel')

/** A run with what was proved about its patch and what went wrong. */
export const RunView = z
  .strictObject({
    ...RunState.shape,
    checks: RunChecks,
    gate: orNull(GateView),
    conflicts: z.int().openapi({ description: 'how many change sets were left out of the patch' }),
    funnel: z.array(FunnelView).openapi({
      description:
        'what became of the change sets of each agent. From `generated` to `accepted` each number counts some of those before. A run that is not composed, or was by an earlier version, has only the agents of which something was decided',
    }),
    left_out: z.array(LeftOut).openapi({ description: 'the first 100 of them' }),
    accepted_left_out: z.int().openapi({
      description:
        'how many accepted change sets are not in the accepted patch, as far as that is known: `/patch/sets` composes it and says why',
    }),
    unread: z.array(UnreadPart).openapi({
      description:
        'parts of this answer that could not be read, because the object store is away or slow: their fields are empty or 0, and a later answer has them. `composition`: `checks`, `conflicts` and `left_out`; `skipped_files`: it and `skipped`. Normally empty',
    }),
    skipped: z.int().openapi({
      description:
        'how many paths of the archive were skipped, with those of the folder that the client did not send (at most 1,000 of these)',
    }),
    skipped_files: z.array(SkippedFileShape).openapi({ description: 'the first 100 of them, sorted by path' }),
    failures: z.array(FailureView).openapi({
      description:
        'failed and blocked operations by error code, the commonest first; where an earlier version ended some of them, only 500 are counted',
    }),
    retried_by: RunId.nullable().openapi({
      description: 'its newest retry; null for retries that earlier versions made',
    }),
    retry_wanted: z.int().openapi({
      description: 'how many rejected operations are tried again by themselves when it has ended',
    }),
  })
  .openapi('Run')
export type RunView = z.infer<typeof RunView>

/** `next` is the `before` of the next page; null on the last. */
export const RunPage = z.strictObject({ runs: z.array(RunSummary), next: RunId.nullable() }).openapi('RunPage')

/** A run that was accepted. */
export const RunAccepted = z
  .strictObject({ run_id: RunId, status: z.literal('queued'), links: RunLinks })
  .openapi('RunAccepted')
