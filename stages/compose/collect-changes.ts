import type { AcceptedDeps } from '#change-sets/accepted-sets.ts'
import { changesOf, replacedSets } from '#change-sets/sets-of-run.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { isErrorCode, type ErrorCode } from '#domain/error.ts'
import { changeSetIdsOf, type Operation, type OperationCost, originalId } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { operationPages } from '#store/ledger/read-operations.ts'

export type CollectDeps = AcceptedDeps & { ledger: Pick<Ledger, 'listOperations'> }

/** A change set of the run. `isRedone`: its work was done again later, well, and has not made it again. */
export type CollectedChange = {
  set: ChangeSet
  operation: Operation
  recordHash: string
  isRedone: boolean
}

export type CodesOfStatus = Record<'failed' | 'blocked' | 'skipped', Map<ErrorCode, number>>

export type Collected = {
  /** Lists those of one generation after those of the one before, each in the order of its plan. */
  changes: CollectedChange[]
  /** Holds what each work with a change set worked on, by the id of its first record. */
  nodes: Map<string, CodeNode>
  /** Sums up all records of the run. */
  totals: Pick<OperationCost, 'turns'>
  codes: CodesOfStatus
  /** Counts, by agent, operations of which a change did not pass its checks, unless they were tried again. */
  unproved: Map<string, number>
}

type CollectDepsWithNote = CollectDeps & { onOperations?(read: number): Promise<void> }

/** Reads what a run has changed in all its generations, what it took, and with what it failed in the end. */
export async function collectChanges(
  { projectId, runId }: Pick<Run, 'projectId' | 'runId'>,
  deps: CollectDepsWithNote,
  signal: AbortSignal,
): Promise<Collected> {
  const totals: Collected['totals'] = { turns: 0 }
  const codes: CodesOfStatus = { failed: new Map(), blocked: new Map(), skipped: new Map() }
  const unproved: Collected['unproved'] = new Map()
  const nodes: Collected['nodes'] = new Map()
  const changes: CollectedChange[] = []
  const records: Operation[] = []
  let read = 0
  for await (const operations of operationPages(deps.ledger, runId)) {
    signal.throwIfAborted()
    for (const operation of operations) count(operation, { totals, codes })
    for (const { bundle } of operations.filter(isUnproved)) unproved.set(bundle, (unproved.get(bundle) ?? 0) + 1)
    const readSets = (hash: string) => deps.readSets(projectId, hash)
    for (const { operation, recordHash, sets } of await changesOf(operations, readSets)) {
      nodes.set(originalId(operation), operation.node)
      changes.push(...sets.map((set) => ({ set, operation, recordHash, isRedone: false })))
    }
    records.push(...operations.filter(({ repeats, outcome }) => repeats !== null || changeSetIdsIn(outcome).length > 0))
    await deps.onOperations?.((read += operations.filter(isCurrent).length))
  }
  const redone = replacedSets(records)
  for (const change of changes) change.isRedone = redone.has(change.set.changeSetId)
  return { changes, nodes, totals, codes, unproved }
}

function changeSetIdsIn(outcome: Operation['outcome']): string[] {
  return outcome === null ? [] : changeSetIdsOf(outcome)
}

function isCurrent({ supersededBy }: Pick<Operation, 'supersededBy'>): boolean {
  return supersededBy === null
}

function isUnproved(operation: Operation): boolean {
  return isCurrent(operation) && operation.outcome?.errorCode === 'WORK_005'
}

function count(
  { status, outcome, supersededBy }: Operation,
  { totals, codes }: Pick<Collected, 'totals' | 'codes'>,
): void {
  totals.turns += outcome?.turns ?? 0
  const code = outcome?.errorCode
  const isBad = status === 'failed' || status === 'blocked' || status === 'skipped'
  if (supersededBy === null && isBad && isErrorCode(code)) codes[status].set(code, (codes[status].get(code) ?? 0) + 1)
}

export function setsOf(changes: readonly CollectedChange[]): Map<string, ChangeSet> {
  return new Map(changes.map(({ set }) => [set.changeSetId, set]))
}

/** Returns what was accepted, in that order, and after it, so that it gives way in a conflict, what nobody has decided on. */
export function selectProposed(changes: readonly CollectedChange[], { byChangeSet }: Decisions): CollectedChange[] {
  const decisionOn = ({ set }: CollectedChange) => byChangeSet.get(set.changeSetId)
  const accepted = changes.filter((change) => decisionOn(change)?.verdict === 'accepted')
  const versionOf = (change: CollectedChange) => decisionOn(change)?.version ?? 0
  const inOrder = accepted.toSorted((left, right) => versionOf(left) - versionOf(right))
  const open = changes.filter((change) => (decisionOn(change)?.verdict ?? 'pending') === 'pending' && !change.isRedone)
  return firstOfEach([...inOrder, ...open])
}

/** The same change, made again in a later generation, has the same id. */
function firstOfEach(changes: readonly CollectedChange[]): CollectedChange[] {
  const byId = new Map(changes.toReversed().map((change) => [change.set.changeSetId, change]))
  return [...byId.values()].toReversed()
}
