import { sizeOfSets } from '#change-sets/run-chain.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { AppError } from '#domain/error.ts'
import { type OperationId, type ProjectId, repeatedOperationId } from '#domain/ids.ts'
import { changeSetIdsOf, replacedBy } from '#domain/operation.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { endedInSlices, type EndedOperation } from '#store/ledger/read-operations.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getChangeSets } from '#store/objects/stored-records.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import type { BaseLayer } from '../workspace/base-layer.ts'
import { type BuiltLayer, openBuiltLayer } from '../workspace/built-layer.ts'
import { type Chain, type DecisionsLedger, openChains, openCurrentDecisions } from './current-decisions.ts'

type StartDeps = {
  ledger: DecisionsLedger & Pick<Ledger, 'endedOperations' | 'operationsOfSets'>
  objects: Pick<ObjectStore, 'get' | 'getRange'>
}

type Starting = Pick<Attempt, 'runId' | 'projectId' | 'startsFrom' | 'repeats'>

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
  const chainFor = openChains(ledger)
  const rejectedIn = openCurrentDecisions(ledger, rejectedOf)
  const read = openSetReader({ ledger, objects })

  async function setsFor(
    { projectId, startsFrom, runId, repeats }: Starting,
    chain: Chain,
  ): Promise<readonly ChangeSet[]> {
    const made = await read.ofOperations(startsFrom, { projectId, chain })
    if (made.length === 0) return []
    const own = new Set(made.map(({ changeSetId }) => changeSetId))
    const needed = new Set(made.flatMap(({ builtOn = [] }) => builtOn).filter((id) => !own.has(id)))
    const all = [...(await read.byId([...needed], { projectId, chain })), ...made]
    const { changeSetIds = [], without = [] } = repeats ?? {}
    const rejected = await rejectedIn(runId, chain)
    return usable(all, new Set([...rejected, ...changeSetIds, ...without]))
  }

  return async (attempt, base, startedFrom) => {
    const { projectId, runId, startsFrom } = attempt
    if (startedFrom === undefined && startsFrom.length === 0) return undefined
    const chain = await chainFor(runId)
    const again = startedFrom && (await read.byId(startedFrom, { projectId, chain }))
    if (startedFrom !== undefined && again?.length !== startedFrom.length) {
      throw new AppError('STORE_003', 'a change set that the attempt started from is not there any more')
    }
    const sets = again ?? (await setsFor(attempt, chain))
    return sets.length === 0 ? undefined : openBuiltLayer(base, sets)
  }
}

function rejectedOf({ byChangeSet }: Decisions): ReadonlySet<string> {
  return new Set([...byChangeSet.values()].flatMap((one) => (one.verdict === 'rejected' ? one.changeSetId : [])))
}

type Within = { projectId: ProjectId; chain: Chain }

/** Reads change sets of a chain of runs. Those that were read last are cached: many operations start from the same ones. */
function openSetReader({ ledger, objects }: StartDeps) {
  const cache = openCachedAnswers<readonly ChangeSet[]>({ maxSize: cachedBytes, sizeOf: sizeOfSets })

  async function setsOf({ outcome }: EndedOperation, projectId: ProjectId): Promise<readonly ChangeSet[]> {
    const { recordHash } = outcome
    if (recordHash === undefined || changeSetIdsOf(outcome).length === 0) return []
    return cache.get(`${projectId} ${recordHash}`, () => getChangeSets(objects, projectId, recordHash))
  }

  /** Returns the sets of each operation from the newest run which has it; those of one that repeats it replace some. */
  async function ofOperations(ids: readonly OperationId[], { projectId, chain }: Within): Promise<ChangeSet[]> {
    const found = new Map<OperationId, readonly ChangeSet[]>()
    const replaced = new Set<string>()
    for (const runId of chain) {
      const missing = ids.filter((id) => !found.has(id))
      const asked = missing.flatMap((id) => [id, repeatedOperationId(id)])
      for (const ended of await endedInSlices(runId, [...new Set(asked)], ledger)) {
        const { outcome, repeats, operationId } = ended
        for (const id of replacedBy({ status: outcome.status, repeats })) replaced.add(id)
        found.set(operationId, await setsOf(ended, projectId))
      }
    }
    const all = ids.flatMap((id) => [...(found.get(id) ?? []), ...(found.get(repeatedOperationId(id)) ?? [])])
    return [...new Map(all.map((set) => [set.changeSetId, set])).values()].filter(
      (set) => !replaced.has(set.changeSetId),
    )
  }

  /** Returns the sets in the order of `ids`; those that are not there are left out. */
  async function byId(ids: readonly string[], { projectId, chain }: Within): Promise<ChangeSet[]> {
    const sets = new Map<string, ChangeSet>()
    for (const runId of chain.toReversed()) {
      const makers = (await ledger.operationsOfSets(runId, ids)).filter((id) => id !== undefined)
      for (const ended of await endedInSlices(runId, [...new Set(makers)], ledger)) {
        for (const set of await setsOf(ended, projectId)) sets.set(set.changeSetId, set)
      }
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
