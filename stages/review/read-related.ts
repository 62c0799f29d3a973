import { chainOf } from '#change-sets/run-chain.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { Decision } from '#domain/decision.ts'
import { undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { endedInSlices } from '#store/ledger/read-operations.ts'
import { mapBounded } from '#store/objects/map-bounded.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { newestRetry } from './wanted-by-decisions.ts'
import { type FindDeps, findSets, type FoundSet, lookupLength, makersOf } from './find-sets.ts'
import type { WantedDecision } from './judge-decisions.ts'
import { redoneAmong } from './redone-sets.ts'
import type { ChangeRecords } from './find-sets.ts'

export type RelatedDeps = {
  ledger: FindDeps['ledger'] & Pick<Ledger, 'endedOperations' | 'getRun' | 'setsBuiltOn'>
  records: Pick<ChangeRecords, 'readChangeSets'>
}

/** The sets that decisions are about, by their ids, and which of them are built on those that are no longer wanted. */
export type RelatedSets = { sets: ReadonlyMap<string, ChangeSet>; builtOn: ReadonlyMap<string, readonly string[]> }

/** Lists, for each set to reject or take back, those that are built on it. */
type Dependents = Map<string, Set<string>>

/**
 * Reads the sets to decide on, those that are accepted, what is built on those to reject or take back, and what those to accept are
 * built on. What a later run than `run` has built on them counts, too: an accepted set has what it needs, whichever run is named.
 * Who made them is added to `found`.
 */
export async function readRelated(
  run: Run,
  wanted: readonly WantedDecision[],
  { found, decisions }: { found: Map<string, FoundSet>; decisions: Decisions },
  deps: RelatedDeps,
): Promise<RelatedSets> {
  const { ledger } = deps
  const chain = await chainOf(await newestRetry(run, ledger), ledger)
  const { sets, read } = openSetReader(run, deps)
  const accepted = await acceptedOf(decisions, ledger)
  await read([...found.values(), ...accepted])
  const add = async (ids: Iterable<string>) => {
    const unknown = [...new Set(ids)].filter((id) => !found.has(id))
    const others = await findSets(chain, unknown, deps)
    for (const [id, one] of others) found.set(id, one)
    await read([...others.values()])
  }
  const released = wanted.filter(({ verdict }) => verdict !== 'accepted').map(({ changeSetId }) => changeSetId)
  const dependents = await openDependents(chain, released, ledger)
  const isReleased = new Set(released)
  const besides: Decision[] = []
  for (const decision of accepted) {
    const { changeSetId: id } = decision
    const bases = (sets.get(id)?.builtOn ?? []).filter((base) => isReleased.has(base))
    for (const base of bases) getOrMake(dependents, base, () => new Set()).add(id)
    // It may be of a retry beside this chain.
    if (bases.length > 0 && !found.has(id)) besides.push(decision)
  }
  await mapBounded(besides, readsAtOnce, async ({ changeSetId, runId, operationId, recordHash }) => {
    found.set(changeSetId, { run: runId, operation: await ledger.getOperation(runId, operationId), recordHash })
  })
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

/** Returns the decisions that accept a set. What runs that were deleted have made is not there any more. */
async function acceptedOf(decisions: Decisions, ledger: Pick<Ledger, 'getRun'>): Promise<Decision[]> {
  const accepted = [...decisions.byChangeSet.values()].filter(({ verdict }) => verdict === 'accepted')
  const kept = new Set<RunId>()
  for (const runId of new Set(accepted.map((one) => one.runId))) {
    if ((await ledger.getRun(runId).catch(undefinedOn('RUN_001'))) !== undefined) kept.add(runId)
  }
  return accepted.filter(({ runId }) => kept.has(runId))
}

/** Finds what is built on each of these sets and was not made again since: what people look at, and may accept. */
async function openDependents(
  chain: readonly [Run, ...Run[]],
  ids: readonly string[],
  ledger: RelatedDeps['ledger'],
): Promise<Dependents> {
  const dependents: Dependents = new Map()
  for (const [at, { runId }] of chain.entries()) {
    for (let first = 0; first < ids.length; first += lookupLength) {
      const slice = ids.slice(first, first + lookupLength)
      const lists = await ledger.setsBuiltOn(runId, slice)
      const isSeen = await seenAmong([...new Set(lists.flat())], { runId, chain, at }, ledger)
      for (const [place, id] of slice.entries()) {
        const seen = (lists[place] ?? []).filter((other) => isSeen.has(other))
        for (const other of seen) getOrMake(dependents, id, () => new Set()).add(other)
      }
    }
  }
  return dependents
}

type InChain = { runId: RunId; chain: readonly Run[]; at: number }

/** Returns those of `ids`, sets that the run at this place of the chain has made, that were not made again since. */
async function seenAmong(
  ids: readonly string[],
  { runId, ...place }: InChain,
  ledger: RelatedDeps['ledger'],
): Promise<ReadonlySet<string>> {
  const makers = await makersOf(runId, ids, ledger)
  const ended = await endedInSlices(runId, [...new Set(makers.values())], ledger)
  const byId = new Map(ended.map((one) => [one.operationId, one]))
  const isRedone = await redoneAmong(ended, place, ledger)
  const isSeen = (id: string) => {
    const maker = byId.get(makers.get(id) ?? '')
    return maker === undefined || !isRedone(id, maker)
  }
  return new Set(ids.filter(isSeen))
}
