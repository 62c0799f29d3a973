import { areApart } from '#change-sets/changes-at-path.ts'
import { composeChangeSets } from '#change-sets/compose-change-sets.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { type OperationId, recordId } from '#domain/ids.ts'
import { type Operation, originalId, type PlannedOperation, type RepeatedWork } from '#domain/operation.ts'
import { maxSliceOperations } from '#store/ledger/plan.ts'
import type { Composition } from '#store/objects/composition.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { CollectedChange } from './collect-changes.ts'

type Composed = {
  /** Lists what was composed, in its order. */
  selected: readonly CollectedChange[]
  conflicts: Composition['conflicts']
  /** The generation of the run that was composed. */
  generation: number
}

/**
 * Plans the operations that run once more since their sets, though sound, collided or have lost what they are built on. Each starts from what
 * it collided with, and waits for those of them. What was done once more for this is not so again. Pure; 1,000 at most.
 */
export function planRepeats({ selected, conflicts, generation }: Composed): PlannedOperation[] {
  const codes = new Map(conflicts.map(({ changeSetId, errorCode }) => [changeSetId, errorCode]))
  const included = byPath(selected.filter(({ set }) => !codes.has(set.changeSetId)))
  const first = selected.filter(({ set, operation }) => mayRepeat(operation) && isSound(codes.get(set.changeSetId)))
  const works = new Map(selected.map(({ operation }) => [operation.operationId, originalId(operation)]))
  const groups = Map.groupBy(first, ({ operation }) => operation.operationId)
  const planned: { operation: PlannedOperation; sets: readonly ChangeSet[] }[] = []
  for (const [id, changes] of [...groups].slice(0, maxSliceOperations)) {
    const [change] = changes
    if (change === undefined) continue
    const sets = changes.map(({ set }) => set)
    const near = sets.flatMap((set) => set.files.flatMap(({ path }) => included.get(path) ?? []))
    const against = near.filter(
      ({ operation, set: nearSet }) => operation.operationId !== id && sets.some((set) => collide(set, nearSet)),
    )
    const before = planned.filter((plan) => plan.sets.some((earlier) => sets.some((set) => mustFollow(set, earlier))))
    // Of a mechanical operation other change sets may be in the patch: its new ones are made on top of them.
    const own = near.some(({ operation }) => operation.operationId === id) ? [originalId(change.operation)] : []
    const startsFrom = [
      ...change.operation.startsFrom.map((madeBy) => works.get(madeBy) ?? madeBy),
      ...against.map(({ operation }) => originalId(operation)),
      ...own,
    ]
    const lacksBase = sets.some(({ changeSetId }) => codes.get(changeSetId) === 'WORK_002')
    if (!lacksBase && against.length + before.length === 0) continue
    const { bundle, bundleHash, node, work, priority } = change.operation
    const operation: PlannedOperation = {
      operationId: recordId(originalId(change.operation), generation + 1),
      bundle,
      bundleHash,
      node,
      work,
      priority,
      after: [],
      afterAny: before.map((plan) => plan.operation.operationId),
      startsFrom: [...new Set(startsFrom)],
      repeats: repeatedWork(change.operation, { sets, startsFrom, conflicts }),
    }
    planned.push({ operation, sets })
  }
  return planned.map(({ operation }) => operation)
}

/** Only the last record of a work is repeated, unless it does so for this reason itself. */
function mayRepeat({ supersededBy, repeats }: Operation): boolean {
  return supersededBy === null && repeats?.because !== 'collided'
}

/** Tells whether a set was left out for what others did. With WORK_004 it breaks the result itself. */
function isSound(errorCode: Composition['conflicts'][number]['errorCode'] | undefined): boolean {
  return errorCode === 'WORK_001' || errorCode === 'WORK_002'
}

type Repeating = Pick<Composed, 'conflicts'> & { sets: readonly ChangeSet[]; startsFrom: readonly OperationId[] }

/** Names the work to repeat, and sets that it does not start from: on top of a left-out one, the new sets would be, too. */
function repeatedWork(operation: Operation, { sets, startsFrom, conflicts }: Repeating): RepeatedWork {
  const changeSetIds = sets.map(({ changeSetId }) => changeSetId)
  const without = conflicts
    .filter((conflict) => startsFrom.includes(conflict.operationId) && !changeSetIds.includes(conflict.changeSetId))
    .map(({ changeSetId }) => changeSetId)
  const { operationId: supersedes } = operation
  const repeated = { operationId: originalId(operation), supersedes, because: 'collided' as const, changeSetIds }
  return { ...repeated, ...(without.length === 0 ? {} : { without }) }
}

function byPath(changes: readonly CollectedChange[]): Map<string, CollectedChange[]> {
  const result = new Map<string, CollectedChange[]>()
  for (const change of changes) {
    for (const { path } of change.set.files) getOrMake(result, path, () => []).push(change)
  }
  return result
}

function mustFollow(set: ChangeSet, earlier: ChangeSet): boolean {
  return set.builtOn?.includes(earlier.changeSetId) === true || collide(set, earlier)
}

function collide(left: ChangeSet, right: ChangeSet): boolean {
  const isNear = left.files.some((change) =>
    right.files.some((file) => file.path === change.path && !areApart(file, change)),
  )
  return isNear && composeChangeSets([alone(left), alone(right)]).conflicts.length > 0
}

function alone({ builtOn: _builtOn, ...set }: ChangeSet): ChangeSet {
  return set
}
