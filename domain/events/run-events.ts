import { z } from 'zod'
import { LineRange } from '../change-set.ts'
import { SkippedFile } from '../code-node.ts'
import { GateReport } from '../gate.ts'
import { endedOperationStatuses, operationStatuses } from '../operation.ts'
import { WantedWork } from '../run.ts'
import { snakeKeys } from '../wire-keys.ts'

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
  z.strictObject({ kind: z.literal('answer'), questions: z.int(), since: z.number().optional() }),
  z.strictObject({ kind: z.literal('budget'), ...overBudget }),
  z.strictObject({ kind: z.literal('approval'), since: z.number() }),
])

/** Says what a run has come to in the end. */
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
  'run.accepted': {
    category: run_lifecycle,
    about: 'The run was asked for.',
    data: z.strictObject({
      agents: Names,
      archive_sha256: z.string().optional(),
      repository: z.string().optional(),
      ref: z.string().optional(),
      commit: z.string().optional(),
    }),
  },
  'run.started': {
    category: run_lifecycle,
    about: 'Its code is being read.',
    data: z.strictObject({ agents: Names }),
  },
  'snapshot.stored': {
    category: run_lifecycle,
    about: 'Its code was stored. The first skipped files are named.',
    data: z.strictObject({
      snapshot_id: z.string(),
      files: z.int(),
      bytes: z.int(),
      repository: z.string().optional(),
      commit: z.string().optional(),
      base_commit: z.string().optional(),
      ...skippedFiles,
    }),
  },
  'nodes.discovered': {
    category: run_lifecycle,
    about: 'Its code nodes were found; `parsed` files were not known before.',
    data: z.strictObject({
      nodes: z.int(),
      edges: z.int(),
      files: z.int(),
      kinds: Counts,
      parsed: z.int(),
      ...skippedFiles,
    }),
  },
  'bundles.checked': {
    category: run_lifecycle,
    about: 'The bundles of its agents were checked and pinned.',
    data: z.strictObject({ bundles: z.array(Bundle) }),
  },
  'run.planned': {
    category: run_lifecycle,
    about: 'Its operations are known. Lists are of the first or commonest 20.',
    data: z.strictObject({
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
  },
  'setup.started': {
    category: run_lifecycle,
    about: 'The environment of its programs is being made.',
    data: z.strictObject({ command: z.string() }),
  },
  'setup.finished': {
    category: run_lifecycle,
    about: 'The environment was made or found, or cannot be made.',
    data: z.strictObject({
      command: z.string(),
      duration_ms: z.number(),
      cached: z.boolean().optional(),
      bytes: z.int().optional(),
      error_code: z.string().optional(),
      reason: z.string().optional(),
      output: z.string().optional(),
    }),
  },
  'operations.repeated': {
    category: run_lifecycle,
    about: 'Operations whose changes collided run once more.',
    data: z.strictObject({ operations: z.int(), reason: z.literal('collided'), generation: z.int() }),
  },
  'run.waiting': {
    category: run_lifecycle,
    about: 'Nothing moves before what it waits for has come.',
    data: z.strictObject({ questions: z.int(), waiting_for: z.array(Wait) }),
  },
  'models.away': {
    category: run_lifecycle,
    about: 'No server answers for a model that these bundles need.',
    data: z.strictObject({ model: z.string(), since: z.number(), bundles: Names }),
  },
  'models.back': {
    category: run_lifecycle,
    about: 'A server answers for the model again.',
    data: z.strictObject({ model: z.string(), since: z.number(), away_ms: z.number() }),
  },
  'budget.set': {
    category: run_lifecycle,
    about: 'Somebody has set how many tokens the run may use.',
    data: z.strictObject({ of: z.literal('run'), limit: z.int().nullable(), before: z.int().nullable() }),
  },
  'budget.reached': {
    category: run_lifecycle,
    about: 'A budget is used up, or has less left than a request `needs`, and work of agents waits for it.',
    data: z.strictObject(overBudget),
  },
  'budget.renewed': {
    category: run_lifecycle,
    about: 'There is budget again.',
    data: z.strictObject({ of: budgetOf, since: z.number() }),
  },
  'run.composed': {
    category: run_lifecycle,
    about: 'Its changes were put together. The first 50 conflicts are named.',
    data: z.strictObject({
      change_sets: z.int(),
      files: z.int(),
      conflicts: z.array(Conflict),
      conflicts_total: z.int(),
      conflicts_by_agent: Counts,
      funnel: z.record(z.string(), Counts),
      gate: z.strictObject(snakeKeys(GateReport.omit({ outputs: true, failing: true }).shape)).optional(),
    }),
  },
  'run.completed': {
    category: run_lifecycle,
    about: 'The run ended well.',
    data: z.strictObject(totals),
  },
  'run.reopened': {
    category: run_lifecycle,
    about: 'Its next generation begins: some of its work is planned once more.',
    data: z.strictObject({
      generation: z.int(),
      operations: z.int().optional(),
      codes: WantedWork.shape.codes,
      error_policy: z.string().optional(),
    }),
  },
  'run.cancelled': {
    category: run_lifecycle,
    about: 'The run was stopped by a person or a newer push.',
    data: z.strictObject({ reason: z.string(), requested_by: z.string() }),
  },
  'run.blocked': {
    category: 'blocked',
    about: 'Its conductor cannot go on towards the objective: it says why.',
    data: z.strictObject({ error_code: z.string(), reason: z.string(), ...totals }),
  },
  'run.failed': {
    category: 'failed',
    about: 'The run ended for a fault, or none of its operations ended well.',
    data: z.strictObject({
      error_code: z.string(),
      reason: z.string(),
      operation_id: z.string().optional(),
      ...z.strictObject(totals).partial().shape,
    }),
  },
} as const

/** The end that operations come to, as an event names it. */
export const EndStatus = z.enum(endedOperationStatuses)
