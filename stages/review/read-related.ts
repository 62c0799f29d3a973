import { replacedSets } from '#change-sets/sets-of-run.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { recordIds } from '#domain/ids.ts'
import { type Operation, originalId } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { endedInSlices } from '#store/ledger/read-operations.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type ChangeRecords, type FindDeps, findSets, type FoundSet, lookupLength, makersOf } from './find-sets.ts'
import type { WantedDecision } from './judge-decisions.ts'

export type RelatedDeps = {
  ledger: FindDeps['ledger'] & Pick<Ledger, 'endedOperations' | 'setsBuiltOn'>
  records: Pick<ChangeRecords, 'readChangeSets'>
}

/** The sets that decisions are about, by their ids, and which of them are built on those that are no longer wanted. */
export type RelatedSets = { sets: ReadonlyMap<string, ChangeSet>; builtOn: ReadonlyMap<string, readonly string[]> }

/** Lists, for each set to reject or take back, those that are built on it. */
type Dependents = Map<string, Set<string>>

/**
 * Reads the sets to decide on, those that are accepted, what is built on those to reject or take back, and what those to accept are
 * built on. Who made them is added to `makers`.
 */
export async function readRelated(
  run: Run,
  wanted: readonly WantedDecision[],
  { makers, decisions }: { makers: Map<string, FoundSet>; decisions: Decisions },
  deps: RelatedDeps,
): Promise<RelatedSets> {
  const { ledger } = deps
  const { sets, read } = openSetReader(run, deps)
  const accepted = [...decisions.byChangeSet.values()].filter(({ verdict }) => verdict === 'accepted')
  await read([...makers.values(), ...accepted])
  const add = async (ids: Iterable<string>) => {
    const unknown = [...new Set(ids)].filter((id) => !makers.has(id))
    const others = await findSets(run, unknown, deps)
    for (const [id, set] of others) makers.set(id, set)
    await read([...others.values()])
  }
  const released = wanted.filter(({ verdict }) => verdict !== 'accepted').map(({ changeSetId }) => changeSetId)
  const dependents = await openDependents(run, released, ledger)
  const isReleased = new Set(released)
  for (const { changeSetId: id } of accepted) {
    const bases = (sets.get(id)?.builtOn ?? []).filter((base) => isReleased.has(base))
    for (const base of bases) getOrMake(dependents, base, () => new Set()).add(id)
  }
  await add([...dependents.values()].flatMap((ids) => [...ids]))
  await add(
    wanted.flatMap(({ changeSetId: id, verdict }) => (verdict === 'accepted' ? (sets.get(id)?.builtOn ?? []) : [])),
  )
  return { sets, builtOn: new Map([...dependents].map(([id, ids]) => [id, [...ids]])) }
}

const readsAtOnce = 32

/** `sets` has all that the records hold which were read. */
function openSetReader({ projectId }: Run, { records }: Pick<RelatedDeps, 'records'>) {
  const sets = new Map<string, ChangeSet>()
  const known = new Set<string>()
  return {
    sets,
    async read(places: readonly Pick<FoundSet, 'recordHash'>[]): Promise<void> {
      const hashes = new Set(places.map(({ recordHash }) => recordHash).filter((hash) => !known.has(hash)))
      const lists = await mapBounded([...hashes], readsAtOnce, (hash) => records.readChangeSets(projectId, hash))
      for (const hash of hashes) known.add(hash)
      for (const set of lists.flat()) sets.set(set.changeSetId, set)
    },
  }
}

/** Finds what is built on each of these sets and was not made again since: what people look at, and may accept. */
async function openDependents(run: Run, ids: readonly string[], ledger: RelatedDeps['ledger']): Promise<Dependents> {
  const dependents: Dependents = new Map()
  for (let first = 0; first < ids.length; first += lookupLength) {
    const slice = ids.slice(first, first + lookupLength)
    const lists = await ledger.setsBuiltOn(run.runId, slice)
    const makers = await makersOf(run.runId, [...new Set(lists.flat())], ledger)
    const ended = await endedInSlices(run.runId, [...new Set(makers.values())], ledger)
    const redone = await redoneAmong(ended, run, ledger)
    for (const [place, id] of slice.entries()) {
      for (const other of lists[place] ?? []) {
        if (!redone.has(other)) getOrMake(dependents, id, () => new Set()).add(other)
      }
    }
  }
  return dependents
}

/** Returns those change sets of these operations' work that nobody is to look at any more, since a later record has made them anew. */
export async function redoneAmong(
  makers: readonly Pick<Operation, 'operationId' | 'repeats'>[],
  { runId, generation }: Pick<Run, 'runId' | 'generation'>,
  ledger: Pick<Ledger, 'endedOperations'>,
): Promise<ReadonlySet<string>> {
  if (generation === 1) return new Set()
  const ids = [...new Set(makers.map(originalId))].flatMap((id) => recordIds(id, generation))
  const ended = await endedInSlices(runId, ids, ledger)
  return replacedSets(ended.toSorted((left, right) => left.generation - right.generation))
}
