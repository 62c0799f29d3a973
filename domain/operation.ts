import { z } from 'zod'
import { CodeNode } from './code-node.ts'
import { ItemId, OperationId, RunId } from './id-schemas.ts'
import { QuestionId } from './question.ts'

/**
 * The states of an operation, in the ledger's words:
 * `pending → ready → dispatched → running → succeeded | unchanged | failed | blocked | cancelled`;
 * `running → waiting → ready` (a question was asked and answered); `running → ready` (handed back or lost);
 * `pending → skipped | cancelled` (something it waits for did not end well, or the run was cancelled); `running → skipped` (what
 * it waited for has removed its node).
 */
export const operationStatuses = [
  'pending',
  'ready',
  'dispatched',
  'running',
  'waiting',
  'succeeded',
  'unchanged',
  'skipped',
  'failed',
  'blocked',
  'cancelled',
] as const
export const OperationStatus = z.enum(operationStatuses)
export type OperationStatus = z.infer<typeof OperationStatus>

export const endedOperationStatuses = ['succeeded', 'unchanged', 'skipped', 'failed', 'blocked', 'cancelled'] as const
export type EndedOperationStatus = (typeof endedOperationStatuses)[number]

/** The part of its work that an operation is in: the same words for each agent, whatever its tools. */
export const operationSteps = [
  'receiving',
  'planning',
  'executing_tools',
  'observing',
  'deferred',
  'synthesizing',
] as const
export type OperationStep = (typeof operationSteps)[number]

export const OperationWork = z.enum(['agent', 'mechanical'])
export type OperationWork = z.infer<typeof OperationWork>

/**
 * Names the operation whose work another one does once more, its record before that, and the sets of it that the new ones take the place of.
 * `without`: sets that it must not start from, though it starts from their operations: they were left out of the patch.
 */
export const RepeatedWork = z.strictObject({
  /** The first record, whose id names the work. */
  operationId: OperationId,
  supersedes: OperationId,
  because: z.enum(['collided', 'asked']),
  changeSetIds: z.array(z.string()),
  without: z.array(z.string()).optional(),
})
export type RepeatedWork = z.infer<typeof RepeatedWork>

/** One bundle × one node, as planned. It starts from the changes of the operations that it waits for. */
export const PlannedOperation = z.strictObject({
  operationId: OperationId,
  bundle: z.string(),
  bundleHash: z.string(),
  node: CodeNode,
  work: OperationWork,
  /** 0 runs first. */
  priority: z.int().min(0).max(99),
  /** Operations of the same run that must end well first. */
  after: z.array(OperationId),
  /** Lists the operations that must end first, well or not. */
  afterAny: z.array(OperationId).optional(),
  /** Lists others whose changes it starts from, which have ended: those of earlier generations. */
  startsFrom: z.array(OperationId).optional(),
  repeats: RepeatedWork.optional(),
})
export type PlannedOperation = z.infer<typeof PlannedOperation>

/** Counts what one operation used of the model, and how long it ran, not counting time spent waiting for people. */
export const OperationCost = z.strictObject({
  turns: z.int().min(0),
  promptTokens: z.int().min(0),
  completionTokens: z.int().min(0),
  durationMs: z.number().min(0),
})
export type OperationCost = z.infer<typeof OperationCost>

/** Says how an operation ended. `recordHash` names the attempt record. A mechanical operation has `changeSetIds`, since it makes several. */
export const Outcome = z.strictObject({
  status: z.enum(endedOperationStatuses),
  summary: z.string(),
  errorCode: z.string().optional(),
  phase: z.string().optional(),
  reason: z.string().optional(),
  recordHash: z.string().optional(),
  changeSetId: z.string().optional(),
  changeSetIds: z.array(z.string()).optional(),
  changedFiles: z.array(z.string()),
  /** Counts the findings that its last attempt has reported; is absent where there are none. */
  findings: z.int().min(1).optional(),
  /** Is set where what it was planned for is not proved to be done. */
  leavesWork: z.literal(true).optional(),
  ...OperationCost.shape,
})
export type Outcome = z.infer<typeof Outcome>

export const Operation = z.strictObject({
  operationId: OperationId,
  runId: RunId,
  bundle: z.string(),
  bundleHash: z.string(),
  node: CodeNode,
  work: OperationWork,
  priority: z.int(),
  status: OperationStatus,
  attempt: z.int().min(0),
  dispatch: z.int().min(0),
  lost: z.int().min(0),
  dependenciesLeft: z.int().min(0),
  /** Lists the operations whose changes it starts from. */
  startsFrom: z.array(OperationId),
  /** The generation of the run that planned it. */
  generation: z.int().min(1),
  /** The item of the agenda that it is of; null in a run without one. */
  itemId: ItemId.nullable().default(null),
  /** Is set for a record that does the work of an earlier one once more. */
  repeats: RepeatedWork.nullable(),
  /** Names the record that does its work once more. This one does not count any more. */
  supersededBy: OperationId.nullable(),
  startedAt: z.number().nullable(),
  /** Says when the attempt started from whose prompts its last one was made; null for one that never started. */
  begunAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  outcome: Outcome.nullable(),
  waitsFor: QuestionId.nullable(),
  /** The object that the next attempt resumes from, after the operation asked a question. */
  suspensionHash: z.string().nullable(),
  /** Lists the attempts that are over and left what they said, though no record has it. */
  keptAttempts: z.array(z.int()),
})
export type Operation = z.infer<typeof Operation>

export function isEndedOperation(status: OperationStatus): status is EndedOperationStatus {
  return endedOperationStatuses.some((ended) => ended === status)
}

/** Returns the id of the first record of the work, which names it. */
export function originalId({ operationId, repeats }: Pick<Operation, 'operationId' | 'repeats'>): OperationId {
  return repeats?.operationId ?? operationId
}

export function changeSetIdsOf({ changeSetId, changeSetIds }: Pick<Outcome, 'changeSetId' | 'changeSetIds'>): string[] {
  return changeSetIds ?? (changeSetId === undefined ? [] : [changeSetId])
}

/** Returns the change sets that a repeated work has made anew, or found to be needless: none unless it has ended well. */
export function replacedBy({ repeats, outcome }: Pick<Operation, 'repeats' | 'outcome'>): readonly string[] {
  if (repeats === null || outcome === null) return []
  if (outcome.status !== 'succeeded' && outcome.status !== 'unchanged') return []
  const made = changeSetIdsOf(outcome)
  return repeats.changeSetIds.filter((id) => !made.includes(id))
}
