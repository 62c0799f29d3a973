import { replacedSets, sizeOfSets } from '#change-sets/sets-of-run.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { AppError } from '#domain/error.ts'
import { type OperationId, type ProjectId, recordIds, type RunId } from '#domain/ids.ts'
import { changeSetIdsOf, originalId } from '#domain/operation.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { endedInSlices, type EndedOperation } from '#store/ledger/read-operations.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getChangeSets } from '#store/objects/stored-records.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import type { BaseLayer } from '../workspace/base-layer.ts'
import { type BuiltLayer, openBuiltLayer } from '../workspace/built-layer.ts'
import { type DecisionsLedger, openCurrentDecisions } from './current-decisions.ts'

type StartDeps = {
  ledger: DecisionsLedger & Pick<Ledger, 'endedOperations' | 'operationsOfSets'>
  objects: Pick<ObjectStore, 'get' | 'getRange'>
}

type Starting = Pick<Attempt, 'runId' | 'projectId' | 'generation' | 'startsFrom' | 'repeats'>

export type OpenStartLayer = (
  attempt: Starting,
  base: BaseLayer,
  startedFrom?: readonly string[],
) => Promise<BuiltLayer | undefined>

const cachedBytes = 20_000_000

/**
 * The snapshot with the changes of the operations that an attempt starts from, and of all that these are built on, without
 * what was rejected by now, what the attempt is to make anew or was left out before that, and what is built on these. `startedFrom`:
 * the sets that an earlier attempt which it continues had, instead. Undefined where there is nothing to start from but the snapshot.
 * STORE_003 when a set of `startedFrom` is gone.
 */
export function openStartLayers({ ledger, objects }: StartDeps): OpenStartLayer {
  const rejectedIn = openCurrentDecisions(ledger, rejectedOf)
  const read = openSetReader({ ledger, objects })

  async function setsFor(attempt: Starting): Promise<readonly ChangeSet[]> {
    const { startsFrom, runId, repeats } = attempt
    const made = await read.ofOperations(startsFrom, attempt)
    if (made.length === 0) return []
    const own = new Set(made.map(({ changeSetId }) => changeSetId))
    const needed = new Set(made.flatMap(({ builtOn = [] }) => builtOn).filter((id) => !own.has(id)))
    const all = [...(await read.byId([...needed], attempt)), ...made]
    const { changeSetIds = [], without = [] } = repeats ?? {}
    const rejected = await rejectedIn(runId)
    return usable(all, new Set([...rejected, ...changeSetIds, ...without]))
  }

  return async (attempt, base, startedFrom) => {
    const { startsFrom } = attempt
    if (startedFrom === undefined && startsFrom.length === 0) return undefined
    const again = startedFrom && (await read.byId(startedFrom, attempt))
    if (startedFrom !== undefined && again?.length !== startedFrom.length) {
      throw new AppError('STORE_003', 'a change set that the attempt started from is not there any more')
    }
    const sets = again ?? (await setsFor(attempt))
    return sets.length === 0 ? undefined : openBuiltLayer(base, sets)
  }
}

function rejectedOf({ byChangeSet }: Decisions): ReadonlySet<string> {
  return new Set(
    [...byChangeSet.values()].flatMap((decision) => (decision.verdict === 'rejected' ? decision.changeSetId : [])),
  )
}

type Within = Pick<Attempt, 'projectId' | 'runId' | 'generation'>

function openSetReader({ ledger, objects }: StartDeps) {
  const cache = openCachedAnswers<readonly ChangeSet[]>({ maxSize: cachedBytes, sizeOf: sizeOfSets })

  async function setsOf({ outcome }: EndedOperation, projectId: ProjectId): Promise<readonly ChangeSet[]> {
    const { recordHash } = outcome
    if (recordHash === undefined || changeSetIdsOf(outcome).length === 0) return []
    return cache.get(`${projectId} ${recordHash}`, () => getChangeSets(objects, projectId, recordHash))
  }

  /** Returns the sets of the works of these operations, in their order, without those that later records have made anew. */
  async function ofOperations(ids: readonly OperationId[], { projectId, runId, generation }: Within) {
    const works = new Set(generation === 1 ? ids : await worksOf(ids, runId))
    const records = [...works].flatMap((id) => recordIds(id, generation))
    const ended = await endedInSlices(runId, records, ledger)
    const endedById = new Map(ended.map((operation) => [operation.operationId, operation]))
    const inOrder = records.flatMap((id) => endedById.get(id) ?? [])
    const replaced = replacedSets(inOrder)
    const all = (await Promise.all(inOrder.map((operation) => setsOf(operation, projectId)))).flat()
    const sets = new Map(all.map((set) => [set.changeSetId, set]))
    return [...sets.values()].filter((set) => !replaced.has(set.changeSetId))
  }

  /** Names each work by its first record; the ids may be those of later ones. */
  async function worksOf(ids: readonly OperationId[], runId: RunId): Promise<OperationId[]> {
    const ended = await endedInSlices(runId, ids, ledger)
    const originals = new Map(ended.map((operation) => [operation.operationId, originalId(operation)]))
    return ids.map((id) => originals.get(id) ?? id)
  }

  async function byId(ids: readonly string[], { projectId, runId }: Within): Promise<ChangeSet[]> {
    const sets = new Map<string, ChangeSet>()
    const makers = (await ledger.operationsOfSets(runId, ids)).filter((id) => id !== undefined)
    for (const ended of await endedInSlices(runId, [...new Set(makers)], ledger)) {
      for (const set of await setsOf(ended, projectId)) sets.set(set.changeSetId, set)
    }
    return ids.flatMap((id) => sets.get(id) ?? [])
  }

  return { ofOperations, byId }
}

/** `builtOn` has all that a set needs, so one pass is enough. */
function usable(sets: readonly ChangeSet[], left: ReadonlySet<string>): ChangeSet[] {
  const there = new Set(sets.flatMap(({ changeSetId: id }) => (left.has(id) ? [] : id)))
  return sets.filter(({ changeSetId: id, builtOn = [] }) => there.has(id) && builtOn.every((other) => there.has(other)))
}
