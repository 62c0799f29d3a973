import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { isByPerson } from '#domain/decision.ts'
import { changeSetId as idOfChanges, type ProjectId, type RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { mapBounded } from '#store/objects/map-bounded.ts'
import { requireGenuine } from './genuine-run.ts'
import { chainOf, placesOfSets } from './run-chain.ts'

export type AcceptedDeps = {
  ledger: Pick<Ledger, 'endedOperations' | 'getOperation' | 'operationsOfSets'>
  readSets(project: ProjectId, recordHash: string): Promise<readonly ChangeSet[]>
}

/** Change sets, and what the operations that made them worked on. */
export type AcceptedSets = { sets: ChangeSet[]; nodeOf(operationId: string): Promise<CodeNode | undefined> }

const readsAtOnce = 16

/**
 * The accepted change sets of a chain, in the order in which they were accepted, and what their operations worked on. A set that was
 * accepted in a retry beside the chain is one of them if a run of the chain has made it, too.
 */
export async function readAccepted(
  chain: readonly [Run, ...Run[]],
  { byChangeSet }: Decisions,
  { ledger, readSets }: AcceptedDeps,
): Promise<AcceptedSets> {
  const [{ projectId }] = chain
  const runs = new Set<RunId>(chain.map(({ runId }) => runId))
  const all = [...byChangeSet.values()].filter(({ verdict }) => verdict === 'accepted')
  const besides = all.flatMap(({ runId, changeSetId }) => (runs.has(runId) ? [] : changeSetId))
  const madeHere = await placesOfSets(besides, chain, ledger)
  const accepted = all.flatMap((one) => {
    const place = runs.has(one.runId) ? one : madeHere.get(one.changeSetId)
    return place === undefined ? [] : [{ ...place, changeSetId: one.changeSetId }]
  })
  const read = await mapBounded(accepted, readsAtOnce, async ({ changeSetId, recordHash }) =>
    (await readSets(projectId, recordHash)).filter((set) => set.changeSetId === changeSetId),
  )
  const places = new Map(accepted.map((place) => [place.operationId, place]))
  return {
    sets: read.flat(),
    async nodeOf(operationId) {
      const place = places.get(operationId)
      return place && (await ledger.getOperation(place.runId, place.operationId)).node
    },
  }
}

/** An id is the hash of the changes: a set that was made up cannot pass for one that somebody has accepted. */
function hasOwnId({ changeSetId, operationId, files, builtOn }: ChangeSet): boolean {
  return changeSetId === idOfChanges(operationId, files, builtOn)
}

/**
 * The decisions on a genuine chain (`requireGenuine`) as whoever publishes may believe them: those of people that are signed, and those of the policy where the chain has one.
 * All others are in `forged`.
 */
export async function believedDecisions(
  chain: readonly [Run, ...Run[]],
  ledger: Pick<Ledger, 'readDecisions'>,
): Promise<Decisions> {
  const decisions = await ledger.readDecisions((chain.at(-1) ?? chain[0]).runId)
  if (chain.some(({ request }) => request.accept === 'auto')) return decisions
  const all = [...decisions.byChangeSet]
  const believed = all.filter(([, one]) => isByPerson(one))
  const ofPolicy = all.flatMap(([id, one]) => (isByPerson(one) ? [] : id))
  return { ...decisions, byChangeSet: new Map(believed), forged: [...decisions.forged, ...ofPolicy] }
}

export type AcceptedChangesDeps = {
  ledger: AcceptedDeps['ledger'] & Pick<Ledger, 'getRun' | 'readDecisions'>
  records: { readChangeSets: AcceptedDeps['readSets'] }
}

/** `acceptedByPersonAt`: in milliseconds since the epoch; undefined when the policy of the run has accepted it. */
export type AcceptedChange = { set: ChangeSet; node: CodeNode; acceptedByPersonAt: number | undefined }

/** Returns the accepted change sets of a run and of those that it retries, with the commit they are for. PUBLISH_005 for a run whose request nobody signed. */
export async function acceptedChanges(run: Run, { ledger, records }: AcceptedChangesDeps): Promise<AcceptedChange[]> {
  await requireGenuine(run, ledger)
  const chain = await chainOf(run, ledger)
  const decisions = await believedDecisions(chain, ledger)
  const { sets, nodeOf } = await readAccepted(chain, decisions, { ledger, readSets: records.readChangeSets })
  const found = await mapBounded(sets.filter(hasOwnId), readsAtOnce, async (set) => ({
    set,
    node: await nodeOf(set.operationId),
  }))
  return found.flatMap(({ set, node }) => {
    const decision = decisions.byChangeSet.get(set.changeSetId)
    const acceptedByPersonAt = decision !== undefined && isByPerson(decision) ? decision.at : undefined
    return node === undefined ? [] : [{ set, node, acceptedByPersonAt }]
  })
}
