import { z } from 'zod'
import { LineRange } from '../change-set.ts'
import { SkippedFile } from '../code-node.ts'
import { GateReport } from '../gate.ts'
import { endedOperationStatuses, operationStatuses } from '../operation.ts'
import { WantedWork } from '../run.ts'
import { snakeKeys } from '../wire-keys.ts'
import { event } from './event-row.ts'

const Names = z.array(z.string())
const Counts = z.record(z.string(), z.int())
const skippedFiles = { skipped: z.int(), skipped_files: z.array(SkippedFile) }

const Node = z.strictObject({ path: z.string(), qualified_name: z.string() })
const ConflictingSet = z.strictObject({
  change_set_id: z.string(),
  operation_id: z.string(),
  agent: z.string().optional(),
  node: Node.optional(),
  lines: LineRange.optional(),
})
const Conflict = ConflictingSet.extend({
  path: z.string(),
  error_code: z.string(),
  reason: z.string(),
  with: ConflictingSet.optional(),
  by_itself: z.literal(true).optional(),
})

const AgentPlan = z.strictObject({
  looked_at: z.int(),
  planned: z.int(),
  mechanical: z.int(),
  skipped: z.array(z.strictObject({ reason: z.string(), count: z.int() })),
})

const Bundle = z.strictObject({
  name: z.string(),
  hash: z.string(),
  valid: z.literal(true),
  tools: z.int(),
  warnings: z.int(),
  first_warnings: Names,
})

const budgetOf = z.enum(['run', 'project'])
/** `needs`: the least that waits for it, where something is left and it is too little. */
const overBudget = {
  of: budgetOf,
  limit: z.int(),
  used: z.int(),
  needs: z.int().optional(),
  since: z.number(),
  resets_at: z.number().optional(),
}
const Wait = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('models'), model: z.string(), since: z.number() }),
  z.strictObject({ kind: z.literal('answer'), questions: z.int() }),
  z.strictObject({ kind: z.literal('budget'), ...overBudget }),
  z.strictObject({ kind: z.literal('approval'), since: z.number() }),
])

/** Says what a run has come to in the end. The tokens are all that it has used: by agents, in every attempt, planner, watcher and asks. */
const totals = {
  operations: z.partialRecord(z.enum(operationStatuses), z.int()),
  change_sets: z.int(),
  files_changed: z.int(),
  conflicts: z.int(),
  turns: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
}

const run_lifecycle = 'run_lifecycle'

/** The events of a run itself. */
export const runEvents = {
  'run.accepted': event(run_lifecycle, 'The run was asked for.', {
    agents: Names,
    objective: z.string().optional(),
    archive_sha256: z.string().optional(),
    repository: z.string().optional(),
    ref: z.string().optional(),
    commit: z.string().optional(),
  }),
  'run.started': event(run_lifecycle, 'Its code is being read.', { agents: Names }),
  'snapshot.stored': event(run_lifecycle, 'Its code was stored. The first skipped files are named.', {
    snapshot_id: z.string(),
    files: z.int(),
    bytes: z.int(),
    repository: z.string().optional(),
    commit: z.string().optional(),
    base_commit: z.string().optional(),
    ...skippedFiles,
  }),
  'nodes.discovered': event(run_lifecycle, 'Its code nodes were found; `parsed` files were not known before.', {
    nodes: z.int(),
    edges: z.int(),
    files: z.int(),
    kinds: Counts,
    parsed: z.int(),
    ...skippedFiles,
  }),
  'bundles.checked': event(run_lifecycle, 'The bundles of its agents were checked and pinned.', {
    bundles: z.array(Bundle),
  }),
  'run.planned': event(run_lifecycle, 'Its operations are known. Lists are of the first or commonest 20.', {
    operations: z.int(),
    generation: z.int().optional(),
    dry_run: z.literal(true).optional(),
    nodes_looked_at: z.int(),
    beyond_limit: z.int(),
    unchanged: z.int().optional(),
    looked_at: z.int(),
    agents: z.record(z.string(), AgentPlan),
    notices: Names,
  }),
  'setup.started': event(run_lifecycle, 'The environment of its programs is being made.', { command: z.string() }),
  'setup.finished': event(run_lifecycle, 'The environment was made or found, or cannot be made.', {
    command: z.string(),
    duration_ms: z.number(),
    cached: z.boolean().optional(),
    bytes: z.int().optional(),
    error_code: z.string().optional(),
    reason: z.string().optional(),
    output: z.string().optional(),
  }),
  'operations.repeated': event(run_lifecycle, 'Operations whose changes collided run once more.', {
    operations: z.int(),
    reason: z.literal('collided'),
    generation: z.int(),
  }),
  'run.waiting': event(run_lifecycle, 'Nothing moves before what it waits for has come.', {
    questions: z.int(),
    waiting_for: z.array(Wait),
  }),
  'models.away': event(run_lifecycle, 'No server answers for a model that these bundles need.', {
    model: z.string(),
    since: z.number(),
    bundles: Names,
  }),
  'models.back': event(run_lifecycle, 'A server answers for the model again.', {
    model: z.string(),
    since: z.number(),
    away_ms: z.number(),
  }),
  'budget.set': event(run_lifecycle, 'Somebody has set how many tokens the run may use.', {
    of: z.literal('run'),
    limit: z.int().nullable(),
    before: z.int().nullable(),
  }),
  'budget.reached': event(
    run_lifecycle,
    'A budget is used up, or has less left than a request `needs`, and work of agents waits for it.',
    overBudget,
  ),
  'budget.renewed': event(run_lifecycle, 'There is budget again.', { of: budgetOf, since: z.number() }),
  'run.composed': event(run_lifecycle, 'Its changes were put together. The first 50 conflicts are named.', {
    change_sets: z.int(),
    files: z.int(),
    conflicts: z.array(Conflict),
    conflicts_total: z.int(),
    conflicts_by_agent: Counts,
    funnel: z.record(z.string(), Counts),
    gate: z.strictObject(snakeKeys(GateReport.omit({ outputs: true, failing: true }).shape)).optional(),
  }),
  'run.completed': event(run_lifecycle, 'The run ended well.', totals),
  'run.reopened': event(run_lifecycle, 'Its next generation begins: some of its work is planned once more.', {
    generation: z.int(),
    operations: z.int().optional(),
    codes: WantedWork.shape.codes,
    error_policy: z.string().optional(),
  }),
  'run.cancelled': event(run_lifecycle, 'The run was stopped by a person or a newer push.', {
    reason: z.string(),
    requested_by: z.string(),
  }),
  'run.blocked': event('blocked', 'Its conductor cannot go on towards the objective: it says why.', {
    error_code: z.string(),
    reason: z.string(),
    ...totals,
  }),
  'run.failed': event('failed', 'The run ended for a fault, or none of its operations ended well.', {
    error_code: z.string(),
    reason: z.string(),
    operation_id: z.string().optional(),
    ...z.strictObject(totals).partial().shape,
  }),
} as const

/** The end that operations come to, as an event names it. */
export const EndStatus = z.enum(endedOperationStatuses)
