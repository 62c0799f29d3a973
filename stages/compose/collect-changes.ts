import type { AcceptedDeps } from '#change-sets/accepted-sets.ts'
import { changesOf } from '#change-sets/run-chain.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { isErrorCode, type ErrorCode } from '#domain/error.ts'
import { type OperationId, repeatedOperationId } from '#domain/ids.ts'
import { type Operation, type OperationCost, replacedBy } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { operationPages } from '#store/ledger/read-operations.ts'

export type CollectDeps = AcceptedDeps & { ledger: Pick<Ledger, 'getRun' | 'listOperations'> }

/**
 * A change set of the run, or of one that it retries. `isRedone`: its operation was run again later, by a retry or because it
 * collided.
 */
export type CollectedChange = {
  set: ChangeSet
  operation: Operation
  recordHash: string
  isEarlier: boolean
  isRedone: boolean
  /** Is true when its operation has been run once more because it collided, or repeats another one that has. */
  isRepeat: boolean
}

export type CodesOfStatus = Record<'failed' | 'blocked', Map<ErrorCode, number>>

export type Collected = {
  /** Lists those of the oldest run of the chain first, each in the order of its plan. */
  changes: CollectedChange[]
  /** Holds, by the id of each operation with a change set, what it worked on. */
  nodes: Map<string, CodeNode>
  /** Sums up the run alone. */
  totals: Pick<OperationCost, 'turns' | 'promptTokens' | 'completionTokens'>
  codes: CodesOfStatus
  /** Counts, by agent, operations of which a change did not pass its checks, unless a retry has tried them again. */
  unproved: Map<string, number>
}

type CollectDepsWithNote = CollectDeps & { onOperations?(read: number): Promise<void> }

/** Reads what a chain of retries has changed, and what its newest run took and failed with. */
export async function collectChanges(
  chain: readonly [Run, ...Run[]],
  deps: CollectDepsWithNote,
  signal: AbortSignal,
): Promise<Collected> {
  const [{ projectId }] = chain
  const totals: Collected['totals'] = { turns: 0, promptTokens: 0, completionTokens: 0 }
  const codes: CodesOfStatus = { failed: new Map(), blocked: new Map() }
  const unproved: Collected['unproved'] = new Map()
  const nodes: Collected['nodes'] = new Map()
  const byRun: CollectedChange[][] = []
  const done = new Set<OperationId>()
  const replaced = new Set<string>()
  for (const [at, { runId }] of chain.entries()) {
    const found: CollectedChange[] = []
    const ofRun: OperationId[] = []
    for await (const operations of operationPages(deps.ledger, runId)) {
      signal.throwIfAborted()
      ofRun.push(...operations.map(({ operationId }) => operationId))
      for (const id of operations.flatMap(replacedBy)) replaced.add(id)
      if (at === 0) for (const operation of operations) count(operation, { totals, codes })
      for (const { bundle } of operations.filter((one) => isUnproved(one) && !isTriedAgain(one, done))) {
        unproved.set(bundle, (unproved.get(bundle) ?? 0) + 1)
      }
      for (const { operation, recordHash, sets } of await changesOf(operations, (hash) =>
        deps.readSets(projectId, hash),
      )) {
        const { operationId, node, repeats } = operation
        nodes.set(operationId, node)
        const isRedone = isTriedAgain(operation, done)
        const change = { operation, recordHash, isEarlier: at > 0, isRedone, isRepeat: repeats !== null }
        found.push(...sets.map((set) => ({ set, ...change })))
      }
      if (at === 0) await deps.onOperations?.(ofRun.length)
    }
    for (const id of ofRun) done.add(id)
    for (const change of found) {
      change.isRepeat ||= done.has(repeatedOperationId(change.operation.operationId))
      // By this run or a later one: what collided in an earlier run counts again where this one has made it.
      change.isRedone ||= replaced.has(change.set.changeSetId)
    }
    byRun.unshift(found)
  }
  return { changes: byRun.flat(), nodes, totals, codes, unproved }
}

/** Tells whether a later run of the chain, which has tried the operations `done`, has tried this one's work. */
function isTriedAgain({ operationId, repeats }: Operation, done: ReadonlySet<OperationId>): boolean {
  return done.has(operationId) || (repeats !== null && done.has(repeats.operationId))
}

function isUnproved({ outcome }: Operation): boolean {
  return outcome?.errorCode === 'WORK_005'
}

function count({ status, outcome }: Operation, { totals, codes }: Pick<Collected, 'totals' | 'codes'>): void {
  totals.turns += outcome?.turns ?? 0
  totals.promptTokens += outcome?.promptTokens ?? 0
  totals.completionTokens += outcome?.completionTokens ?? 0
  const code = outcome?.errorCode
  if ((status === 'failed' || status === 'blocked') && isErrorCode(code))
    codes[status].set(code, (codes[status].get(code) ?? 0) + 1)
}

export function setsOf(changes: readonly CollectedChange[]): Map<string, ChangeSet> {
  return new Map(changes.map(({ set }) => [set.changeSetId, set]))
}

/**
 * The changes of the proposed patch: those that were accepted, in that order, and after them, so that they give way in a conflict,
 * those that nobody has decided on and whose operation was not run again. The composition leaves out those that are built on others
 * which are not among them.
 */
export function selectProposed(changes: readonly CollectedChange[], { byChangeSet }: Decisions): CollectedChange[] {
  const decisionOn = ({ set }: CollectedChange) => byChangeSet.get(set.changeSetId)
  const accepted = changes.filter((change) => decisionOn(change)?.verdict === 'accepted')
  const versionOf = (change: CollectedChange) => decisionOn(change)?.version ?? 0
  const inOrder = accepted.toSorted((one, other) => versionOf(one) - versionOf(other))
  const open = changes.filter((change) => (decisionOn(change)?.verdict ?? 'pending') === 'pending' && !change.isRedone)
  return firstOfEach([...inOrder, ...open])
}

/** The same change, made again by a retry, has the same id. */
function firstOfEach(changes: readonly CollectedChange[]): CollectedChange[] {
  const byId = new Map(changes.toReversed().map((change) => [change.set.changeSetId, change]))
  return [...byId.values()].toReversed()
}
