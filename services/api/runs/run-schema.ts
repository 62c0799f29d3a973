import { z } from '@hono/zod-openapi'
import { evidenceChecks } from '#domain/evidence.ts'
import { OperationId, ProjectId, RunId } from '#domain/ids.ts'
import { operationStatuses, OperationStatus } from '#domain/operation.ts'
import { RunPhase, RunRequest, RunStatus } from '#domain/run.ts'

const fields = RunRequest.shape

/** ISO 8601 in UTC, with milliseconds. */
export const Time = z.iso.datetime()

/** The `{run_id}` of an address. */
export const RunParams = z.object({ run_id: RunId })

export const RunLinks = z
  .strictObject({
    self: z.string(),
    events: z.string(),
    nodes: z.string(),
    operations: z.string(),
    changes: z.string(),
    patch: z.string(),
    questions: z.string(),
  })
  .openapi('RunLinks')
export type RunLinks = z.infer<typeof RunLinks>

const RequestView = z.strictObject({
  agents: fields.agents,
  paths: fields.paths,
  languages: fields.languages,
  node_kinds: fields.nodeKinds,
  include: fields.include,
  accept: z.enum(['none', 'auto']),
  error_policy: z.enum(['continue', 'skip_downstream', 'stop_run']),
  limits: z.strictObject({ operations: z.int().optional() }),
  priority: z.int(),
  labels: z.record(z.string(), z.string()),
  retry_of: fields.retryOf.meta({ description: 'the run that this one tries again' }),
  operations: fields.operations.meta({ description: 'of a retry: only these' }),
})

const RunState = z.strictObject({
  run_id: RunId,
  project_id: ProjectId,
  status: RunStatus,
  phase: RunPhase,
  request: RequestView,
  counts: z.record(z.enum(operationStatuses), z.int()).openapi({ description: 'operations by their status' }),
  open_questions: z.int().openapi({ description: 'that operations wait for' }),
  nodes: z.int(),
  files: z.int(),
  seq: z.int().openapi({ description: 'number of the last event' }),
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
    not_checked: z.int().optional().openapi({ description: 'files it could not be made on; they are not in `total`' }),
  })
  .openapi('Check')
export const FailureView = z
  .strictObject({
    operation_id: OperationId,
    agent: z.string(),
    path: z.string(),
    qualified_name: z.string(),
    status: OperationStatus,
    error_code: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .openapi('Failure')
export type FailureView = z.infer<typeof FailureView>

/** A run with what was proved about its patch and what went wrong. */
export const RunView = z
  .strictObject({
    ...RunState.shape,
    checks: z
      .partialRecord(z.enum(evidenceChecks), CheckView)
      .openapi({ description: 'what was proved about the files of the composed patch' }),
    conflicts: z.int().openapi({ description: 'change sets that were left out of the patch' }),
    skipped: z.int().openapi({ description: 'paths of the archive that were passed over' }),
    skipped_files: z
      .array(z.strictObject({ path: z.string(), reason: z.string() }))
      .openapi({ description: 'the first 100 of them, sorted by path' }),
    failures: z.array(FailureView).openapi({ description: 'the first 100 failed and blocked operations' }),
  })
  .openapi('Run')
export type RunView = z.infer<typeof RunView>

/** `next` is the `before` of the next page; null on the last. */
export const RunPage = z.strictObject({ runs: z.array(RunSummary), next: RunId.nullable() }).openapi('RunPage')

/** What was taken in. */
export const RunAccepted = z
  .strictObject({ run_id: RunId, status: z.literal('queued'), links: RunLinks })
  .openapi('RunAccepted')
