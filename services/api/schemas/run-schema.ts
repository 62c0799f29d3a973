import { z } from 'zod'
import { LineRange } from '#domain/change-set.ts'
import { EvidenceCheck } from '#domain/checks.ts'
import { SkippedFile } from '#domain/code-node.ts'
import { OperationId, ProjectId, RunId } from '#domain/id-schemas.ts'
import { OperationStatus, operationStatuses, OperationWork } from '#domain/operation.ts'
import { AcceptPolicy, ErrorPolicyName, RunPhase, RunRequest, RunStatus, SkipKind } from '#domain/run.ts'
import { AnswerView } from './agenda-schema.ts'
import { GateShape, GateView } from './gate-schema.ts'
import { liveShape } from './live-schema.ts'
import { PublicationView, RepositoryView } from './publication-schema.ts'
import { EnvironmentView, SetupShape } from './setup-schema.ts'
import { WaitingFor } from './waiting-schema.ts'
import { orNull, Time } from './wire-parts.ts'

const lines = LineRange.meta({
  id: 'LineRange',
  description: 'lines of the file before the run, from 1, both included',
})
const CodePlace = z.strictObject({ path: z.string(), qualified_name: z.string() }).meta({ id: 'CodePlace' })

/** Agent and code are absent where no operation is known to have made the set; lines where no file is edited. */
const ConflictingSet = z.strictObject({
  change_set_id: z.string(),
  operation_id: z.string(),
  agent: z.string().optional(),
  node: CodePlace.optional(),
  lines: lines.optional(),
  text: z
    .string()
    .optional()
    .meta({ description: 'what it makes of these lines, or of the new file; at most 4,000 characters' }),
})
export type ConflictingSet = z.infer<typeof ConflictingSet>

/** A change set that is not in the composed patch, why, and the change set that keeps it out, if it is one. */
export const LeftOut = z
  .strictObject({
    ...ConflictingSet.shape,
    path: z.string(),
    error_code: z.enum(['WORK_001', 'WORK_002', 'WORK_004', 'WORK_007']).meta({ id: 'ConflictCode' }),
    reason: z.string(),
    with: ConflictingSet.meta({ id: 'ConflictingSet' }).optional(),
    by_itself: z.literal(true).optional().meta({
      description:
        'it was tried without any other change set but those that it is built on; of WORK_004: it breaks the file; of WORK_007: a test fails',
    }),
  })
  .meta({ id: 'LeftOut' })
export type LeftOut = z.infer<typeof LeftOut>

const fields = RunRequest.shape

export const RunStatusShape = RunStatus.meta({ id: 'RunStatus' })
export const OperationStatusShape = OperationStatus.meta({ id: 'OperationStatus' })
export const OperationWorkShape = OperationWork.meta({
  id: 'OperationWork',
  description: 'Who does the work: an agent with a model, or a program that needs none.',
})
export const ErrorPolicyShape = ErrorPolicyName.meta({
  id: 'ErrorPolicy',
  description: 'What happens to the other operations when one fails. Default of a submission: skip_downstream.',
})
export const RunLimits = fields.limits.unwrap().meta({ id: 'RunLimits' })
export const RunBudget = fields.budget.unwrap().meta({
  id: 'RunBudget',
  description:
    'tokens of prompts and replies that its agents may use. Each request reserves the most that it may use; what does not fit waits until tokens are given back, or the budget is raised',
})
export const Labels = fields.labels.unwrap().meta({ id: 'Labels' })
export const SkipKindShape = SkipKind.meta({ id: 'SkipKind' })
export const SkippedFileShape = SkippedFile.meta({ id: 'SkippedFile' })

/** The `{run_id}` of an address. */
export const RunParams = z.object({ run_id: RunId })

export const RunLinks = z
  .strictObject({
    self: z.string(),
    events: z.string(),
    timeline: z.string(),
    agenda: z.string(),
    nodes: z.string(),
    operations: z.string(),
    changes: z.string(),
    findings: z.string(),
    decisions: z.string(),
    patch: z.string(),
    archive: z.string(),
    questions: z.string(),
  })
  .meta({ id: 'RunLinks' })
export type RunLinks = z.infer<typeof RunLinks>

export const AcceptPolicyShape = AcceptPolicy.meta({ id: 'AcceptPolicy' })

/** Shows what was asked for, with the defaults filled in. */
export const RequestView = z
  .strictObject({
    agents: fields.agents.meta({
      description: 'empty of a run with an objective that names none: its plan is made with all agents',
    }),
    objective: fields.objective,
    approval: fields.approval,
    dry_run: z.boolean().meta({ description: 'only its plan is made: no agent runs' }),
    paths: fields.paths,
    languages: fields.languages,
    exclude: fields.exclude,
    node_kinds: fields.nodeKinds,
    include: z.array(SkipKindShape).optional(),
    selected_nodes: z.int().optional().meta({ description: 'of a run that is limited to some nodes: how many' }),
    error_policy: ErrorPolicyShape,
    limits: RunLimits,
    budget: RunBudget.optional(),
    priority: z.int(),
    accept: AcceptPolicyShape,
    verify: GateShape.optional(),
    setup: SetupShape.optional(),
    labels: Labels,
  })
  .meta({ id: 'AcceptedRequest' })

const OperationCounts = z
  .record(z.enum(operationStatuses), z.int())
  .meta({ id: 'OperationCounts', description: 'operations by their status' })

/** Says how far the composition of a run's patch is. */
export const ComposingView = z
  .strictObject({
    operations_read: z.int().meta({ description: 'operations whose change sets were read' }),
    operations: z.int(),
    files_proved: z.int().meta({ description: 'changed files that were composed and checked again' }),
    files: z.int().meta({ description: '0 until all operations are read' }),
    gate_runs: z.int().optional().meta({ description: "runs of the gate's command so far" }),
    gate_most: z.int().optional().meta({ description: 'the most that it may make' }),
  })
  .meta({ id: 'Composing', description: 'how far the composition of the patch is; null before and after it' })
export type ComposingView = z.infer<typeof ComposingView>

export const BudgetView = z
  .strictObject({
    tokens: z.int().nullable().meta({ description: 'null: any number' }),
    used: z.int().meta({
      description: 'by answers of models so far, also in attempts that go on or were lost',
    }),
    used_by_agents: z.int().meta({ description: 'of that; the rest is of the planner, the watcher and asks' }),
  })
  .meta({ id: 'Budget' })
export type BudgetView = z.infer<typeof BudgetView>

const RunState = z.strictObject({
  run_id: RunId,
  project_id: ProjectId,
  status: RunStatusShape,
  phase: RunPhase.meta({ id: 'RunPhase' }),
  generation: z.int().meta({
    description:
      'how often its work was planned: 1 at first, one more with each retry and each time that operations ran again since their changes collided',
  }),
  request: RequestView,
  repository: orNull(RepositoryView),
  publication: orNull(PublicationView),
  counts: OperationCounts,
  open_questions: z.int().meta({ description: 'that operations wait for, and about the run itself' }),
  waiting_for: z.array(WaitingFor).meta({
    description:
      'what it waits for, also while other operations move; it goes on by itself. Empty once it is stopped or has ended',
  }),
  budget: BudgetView,
  nodes: z.int(),
  files: z.int(),
  findings: z.int().meta({
    description: 'how many its operations have reported; those whose work is done once more are not counted',
  }),
  seq: z.int().meta({ description: 'number of the last event' }),
  composing: orNull(ComposingView),
  environment: orNull(EnvironmentView),
  cancel_requested: z.boolean(),
  accepted_at: Time,
  ended_at: Time.nullable(),
  duration_ms: z.number().nullable().meta({ description: 'null until the run has ended' }),
  error_code: z.string().nullable(),
  reason: z.string().nullable(),
  links: RunLinks,
})

/** A run as the list shows it. */
export const RunSummary = RunState.meta({ id: 'RunSummary' })
export type RunSummary = z.infer<typeof RunSummary>

/** Counts the composed files that a check was made on, and those that passed. */
const CheckView = z
  .strictObject({
    ok: z.int(),
    total: z.int(),
    with_errors: z.int().optional().meta({ description: 'passed with errors that were there before' }),
    in_part: z.int().optional().meta({
      description: 'passed by files of which only some change sets were asked for it: it says nothing of the others',
    }),
    not_checked: z.int().optional().meta({ description: 'files it could not be made on; they are not in `total`' }),
    not_applicable: z.int().optional().meta({ description: 'files of languages it does not apply to; not in `total`' }),
    planted: z.int().optional().meta({ description: 'of `tests_kill_mutants`: faults that were planted in the code' }),
    noticed: z.int().optional().meta({ description: 'how many of these the tests noticed' }),
  })
  .meta({ id: 'Check' })
export type CheckView = z.infer<typeof CheckView>

export const FailureView = z
  .strictObject({
    error_code: z.string().nullable(),
    count: z.int().meta({ description: 'how many operations failed or were blocked with this code' }),
    operation_id: OperationId,
    agent: z.string(),
    path: z.string(),
    qualified_name: z.string(),
    status: OperationStatusShape,
    reason: z.string().nullable(),
  })
  .meta({ id: 'Failure', description: 'An error code, how often it occurred, and the first operation with it.' })
export type FailureView = z.infer<typeof FailureView>

const RunChecks = z
  .partialRecord(EvidenceCheck, CheckView)
  .meta({ id: 'RunChecks', description: 'what was proved about the files of the composed patch' })

const UnreadPart = z.enum(['composition', 'skipped_files']).meta({ id: 'UnreadPart' })

const FunnelView = z
  .strictObject({
    agent: z.string(),
    generated: z.int().nullable().meta({
      description:
        'change sets made by the run, also by operations that failed with WORK_005; what was made again counts only if it is accepted. Null while the run is not composed, as are `valid` and `verified`',
    }),
    valid: z.int().nullable().meta({
      description:
        'those of them that can be in a patch: they did not give way to another one, unless they are accepted instead, and broke no file when the run was composed; rejected ones, too',
    }),
    verified: z.int().nullable().meta({ description: 'those of them whose every check has passed, with none missing' }),
    accepted: z.int().meta({
      description: 'those of them that are accepted now; while the run is not composed, all that are accepted',
    }),
    accepted_unverified: z.int().meta({ description: 'accepted now and generated, but not verified' }),
    rejected: z.int().meta({
      description: 'of those generated, the ones that are rejected now; while the run is not composed, all that are',
    }),
    merged: z.int().meta({ description: 'those that a merged pull request had' }),
  })
  .meta({ id: 'Funnel' })

/** A run with what was proved about its patch and what went wrong. */
export const RunView = z
  .strictObject({
    ...RunState.shape,
    ...liveShape,
    checks: RunChecks,
    gate: orNull(GateView),
    answer: orNull(AnswerView).meta({
      description: 'of a run with an objective that has reached it: what it came to, with what that rests on',
    }),
    conflicts: z.int().meta({ description: 'how many change sets were left out of the patch' }),
    funnel: z.array(FunnelView).meta({
      description:
        'what became of the change sets of each agent. From `generated` to `accepted` each number counts some of those before. A run that is not composed has only the agents of which something was decided',
    }),
    left_out: z.array(LeftOut).meta({ description: 'the first 100 of them' }),
    accepted_left_out: z.int().meta({
      description:
        'how many accepted change sets are not in the accepted patch, as far as that is known: `/patch/sets` composes it and says why',
    }),
    unread: z.array(UnreadPart).meta({
      description:
        'parts of this answer that could not be read, because the object store is away or slow: their fields are empty or 0, and a later answer has them. `composition`: `checks`, `conflicts` and `left_out`; `skipped_files`: it and `skipped`. Normally empty',
    }),
    skipped: z.int().meta({
      description:
        'how many paths of the archive were skipped, with those of the folder that the client did not send (at most 1,000 of these)',
    }),
    skipped_files: z.array(SkippedFileShape).meta({ description: 'the first 100 of them, sorted by path' }),
    failures: z.array(FailureView).meta({
      description: 'failed and blocked operations by error code, the commonest first',
    }),
    retry_wanted: z.int().meta({
      description: 'how many rejected operations are tried again by themselves when it has ended',
    }),
  })
  .meta({ id: 'Run' })
export type RunView = z.infer<typeof RunView>

/** `next` is the `before` of the next page; null on the last. */
export const RunPage = z.strictObject({ runs: z.array(RunSummary), next: RunId.nullable() }).meta({ id: 'RunPage' })

/** A run that was accepted. */
export const RunAccepted = z
  .strictObject({ run_id: RunId, status: z.literal('queued'), links: RunLinks })
  .meta({ id: 'RunAccepted' })
