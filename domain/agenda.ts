import { z } from 'zod'
import { NodeKind } from './code-node.ts'
import { ItemId, NodeId } from './id-schemas.ts'
import { endedOperationStatuses } from './operation.ts'
import { faultOfGlobs } from './path-globs.ts'
import { RepoPath } from './repo-path.ts'
import { CommitId } from './repository-source.ts'

export { ItemId } from './id-schemas.ts'

// These shapes cross HTTP and are what a planner model writes, so their names are as other programs read them (snake_case).

export const maxItems = 64
export const maxRetries = 2
export const maxObjectiveCharacters = 8_000

const ItemIds = z.array(ItemId).max(maxItems)
const Text = z.string().trim().min(1).max(2000)
const Seqs = z.array(z.int().min(1)).max(50)
const Globs = z
  .array(z.string().min(1).max(1024))
  .max(100)
  .refine((globs) => faultOfGlobs(globs) === undefined, 'has a pattern that cannot be read')
const least = z.int().min(1).max(1_000_000)

/** Narrows the nodes that the run's own filters leave; a list that is absent narrows nothing. `names`: globs of qualified ones. */
export const Where = z.strictObject({
  paths: Globs.optional(),
  names: Globs.optional(),
  languages: z.array(z.string().min(1).max(64)).max(32).optional(),
  kinds: z.array(NodeKind.max(64)).max(32).optional(),
  node_ids: z.array(NodeId).min(1).max(1_000).optional(),
})
export type Where = z.infer<typeof Where>

/** Code checks each but `judged`, which a model answers. */
export const Criterion = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('no_work_left') }),
  z.strictObject({ kind: z.literal('findings'), least }),
  z.strictObject({ kind: z.literal('proved_changes'), least }),
  z.strictObject({ kind: z.literal('tests_pass') }),
  z.strictObject({ kind: z.literal('judged'), text: Text }),
])
export type Criterion = z.infer<typeof Criterion>

export const ItemBudget = z.strictObject({
  operations: z.int().min(1).max(1_000_000).optional(),
  tokens: z.int().min(1).max(1_000_000_000_000).optional(),
  seconds: z.int().min(1).max(1_000_000).optional(),
})
export type ItemBudget = z.infer<typeof ItemBudget>

/** Says what one bundle is to do where. The ordinary planner makes operations of it, once all of `depends_on` have ended. */
export const AgendaItem = z.strictObject({
  item_id: ItemId,
  /** Names a bundle of the run. */
  capability: z.string().min(1).max(64),
  where: Where,
  objective: Text,
  success_criteria: z.array(Criterion).max(8),
  depends_on: ItemIds,
  budget: ItemBudget,
  /** 0 runs first. */
  priority: z.int().min(0).max(9),
})
export type AgendaItem = z.infer<typeof AgendaItem>

const Items = z.array(AgendaItem).min(1).max(maxItems)

/**
 * Counts the operations of an item since it was dispatched last, by how they ended. `open`: those that have not ended. `change_sets`: those whose
 * work no other item has done again. `left`: works that are not proved to be done, those without an operation included, and files that a limit
 * has kept from being looked at. `reads`: the hash of the list of files that
 * it reads (`getItemReads`), once it is planned or estimated. `fault`: why it could not be planned.
 */
export const ItemCounts = z.strictObject({
  planned: z.int().min(0),
  open: z.int().min(0),
  ended: z.record(z.enum(endedOperationStatuses), z.int().min(0)),
  change_sets: z.int().min(0),
  findings: z.int().min(0),
  tokens: z.int().min(0),
  left: z.int().min(0),
  /** Counts the error codes of those that failed, were blocked, or were skipped since the seconds of the item were over. */
  faults: z.record(z.string(), z.int().min(1)),
  reads: z.string().nullable(),
  estimate: z.strictObject({ operations: z.int().min(0), tokens: z.int().min(0) }).nullable(),
  fault: z.strictObject({ error_code: z.string(), reason: z.string() }).nullable(),
})
export type ItemCounts = z.infer<typeof ItemCounts>

export const ItemStatus = z.enum(['waiting', 'planning', 'active', 'ended', 'blocked', 'cancelled', 'stale'])
export type ItemStatus = z.infer<typeof ItemStatus>

/** `result`: what its operations came to, once it has ended. */
export const ItemState = AgendaItem.extend({
  status: ItemStatus,
  retries: z.int().min(0).max(maxRetries),
  result: ItemCounts.optional(),
})
export type ItemState = z.infer<typeof ItemState>

/** `events`: the numbers of the events that it rests on, which exist. `confidence` is shown, and compared with nothing. */
export const Rationale = z.strictObject({ text: Text, events: Seqs, confidence: z.number().min(0).max(1) })
export type Rationale = z.infer<typeof Rationale>

const rationale = Rationale

/** Is the first decision about a run, made once. */
export const Bootstrap = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('plan'), items: z.array(AgendaItem).max(maxItems), rationale }),
  z.strictObject({ kind: z.literal('block'), reason: Text, rationale }),
])
export type Bootstrap = z.infer<typeof Bootstrap>

/** Cites what exists: events by number, files by path, findings by where they are. */
export const RunAnswer = z.strictObject({
  text: z.string().trim().min(1).max(8000),
  events: Seqs,
  paths: z.array(RepoPath).max(50),
  findings: z.array(z.strictObject({ path: RepoPath, line: z.int().min(1) })).max(50),
})
export type RunAnswer = z.infer<typeof RunAnswer>

export const Decision = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('dispatch'), item_ids: ItemIds.min(1), rationale }),
  z.strictObject({ kind: z.literal('retry'), item_id: ItemId, rationale }),
  z.strictObject({ kind: z.literal('follow_up'), items: Items, rationale }),
  z.strictObject({ kind: z.literal('complete'), answer: RunAnswer, rationale }),
  z.strictObject({ kind: z.literal('block'), reason: Text, rationale }),
])
export type Decision = z.infer<typeof Decision>

/** Takes the place of the objective and of the items that have not begun, after somebody has said more. */
export const Refinement = z.strictObject({
  kind: z.literal('refine'),
  objective: z.string().trim().min(1).max(maxObjectiveCharacters),
  items: z.array(AgendaItem).max(maxItems),
  rationale,
})
export type Refinement = z.infer<typeof Refinement>

export const escalationKinds = [
  'failure_spike',
  'timeout_pattern',
  'resource_exhaustion',
  'security_concern',
  'cost_anomaly',
  'stalled_run',
] as const

export const Escalation = z.strictObject({
  kind: z.enum(escalationKinds),
  urgency: z.enum(['low', 'medium', 'high']),
  /** Names items, operations or the run. */
  affected: z.array(z.string().min(1).max(64)).max(20),
  mitigation: z.enum(['notify', 'retry', 'request_human', 'terminate', 'continue']),
  rationale: Text,
  dedup_key: z.string().min(1).max(200),
})
export type Escalation = z.infer<typeof Escalation>

const by = z.string().min(1).max(200)

/** The number of the event that a message tells of, which the ledger adds. */
const seq = z.int().min(1).optional()

/** Is what the conductor of a run must hear, in the order in which it came. A run begins without one: its `bootstrap` is null. */
export const InboxMessage = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('item_ended'), item_id: ItemId, seq }),
  z.strictObject({ kind: z.literal('item_estimated'), item_id: ItemId, seq }),
  z.strictObject({ kind: z.literal('said'), text: z.string().min(1).max(maxObjectiveCharacters), by, seq }),
  z.strictObject({ kind: z.literal('approved'), plan_hash: z.string().min(1).max(64), by, seq }),
  /** `paths`: what this commit of the branch has changed since that of the run. */
  z.strictObject({ kind: z.literal('pushed'), commit: CommitId, paths: z.array(z.string()).max(1_000), seq }),
  z.strictObject({ kind: z.literal('escalation'), escalation: Escalation, seq }),
  z.strictObject({ kind: z.literal('reopened'), seq }),
])
export type InboxMessage = z.infer<typeof InboxMessage>

/** The most messages that a decision is told of. */
export const maxHeard = 10

/**
 * Is what a conductor's commit stores, as a whole. `fruitless`: decisions in a row without progress, which is what `progress` counts.
 * `heard`: messages that the next decision is told of. `cause`: the event that it follows from. `escalated`: the keys of the escalations that
 * any was told of. `broken`: answers in a row that broke off.
 */
export const AgendaState = z.strictObject({
  objective: z.string().min(1).max(maxObjectiveCharacters),
  items: z.array(ItemState).max(maxItems),
  decisions: z.int().min(0),
  bootstrap: z.strictObject({ kind: z.enum(['plan', 'block']), model: z.string(), rationale }).nullable(),
  fruitless: z.int().min(0),
  broken: z.int().min(0).optional(),
  progress: z.int().min(0).optional(),
  heard: z.array(InboxMessage).max(maxHeard).optional(),
  cause: seq,
  escalated: z.array(z.string()).max(100).optional(),
  approval: z
    .strictObject({
      plan_hash: z.string(),
      wanted_since: z.number(),
      by: by.optional(),
      at: z.number().optional(),
    })
    .nullable(),
  answer: RunAnswer.nullable(),
})
export type AgendaState = z.infer<typeof AgendaState>

/** Says for what a conductor waits while nothing of its run moves. `since`: milliseconds since the epoch. */
export const ConductorWait = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('models'), model: z.string(), since: z.number() }),
  z.strictObject({ kind: z.literal('approval'), since: z.number() }),
  /** `needs`: the most tokens that its next request may use. Which budget has too little left is told with the run's budgets. */
  z.strictObject({ kind: z.literal('budget'), needs: z.int().min(1), since: z.number() }),
])
export type ConductorWait = z.infer<typeof ConductorWait>

/** An item that is planned next. `version`: that of the agenda which has dispatched it. `estimate`: its operations are only counted. */
export const PlanningItem = z.strictObject({
  item_id: ItemId,
  version: z.int().min(1),
  estimate: z.boolean(),
  /** That of its operations, once the first of them are planned. */
  generation: z.int().min(1).optional(),
})
export type PlanningItem = z.infer<typeof PlanningItem>

/**
 * Is `open` while a conductor decides what the run does; then why it does not any more. `version` counts its commits, `messages` those that it
 * has not heard.
 */
export const ConductorState = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('open'),
    version: z.int().min(0),
    messages: z.int().min(0),
    waits: ConductorWait.nullable(),
    planning: z.array(PlanningItem),
  }),
  z.strictObject({ kind: z.literal('done') }),
  z.strictObject({ kind: z.literal('blocked'), code: z.string(), reason: z.string() }),
])
export type ConductorState = z.infer<typeof ConductorState>
