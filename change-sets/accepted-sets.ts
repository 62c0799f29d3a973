import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { isByPerson } from '#domain/decision.ts'
import { changeSetId as idOfChanges, type ProjectId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { requireGenuine } from '#domain/genuine-run.ts'

export type AcceptedDeps = {
  ledger: Pick<Ledger, 'getOperation'>
  readSets(project: ProjectId, recordHash: string): Promise<readonly ChangeSet[]>
}

/** `nodeOf` says what the operation that made a set worked on. */
export type AcceptedSets = { sets: ChangeSet[]; nodeOf(operationId: string): Promise<CodeNode | undefined> }

const readsAtOnce = 16

/** Returns the accepted change sets of a run, in the order in which they were accepted. */
export async function readAccepted(
  { projectId, runId }: Run,
  { byChangeSet }: Decisions,
  { ledger, readSets }: AcceptedDeps,
): Promise<AcceptedSets> {
  const accepted = [...byChangeSet.values()].filter(({ verdict }) => verdict === 'accepted')
  const read = await mapBounded(accepted, readsAtOnce, async ({ changeSetId, operationId, recordHash }) => {
    const sets = await readSets(projectId, recordHash)
    return sets.filter((set) => set.changeSetId === changeSetId).map((set) => ({ set, operationId }))
  })
  const makers = new Map(read.flat().map(({ set, operationId }) => [set.operationId, operationId]))
  return {
    sets: read.flat().map(({ set }) => set),
    async nodeOf(id) {
      const maker = makers.get(id)
      return maker === undefined ? undefined : (await ledger.getOperation(runId, maker)).node
    },
  }
}

/** An id is the hash of the changes: a set that was made up cannot pass for one that somebody has accepted. */
function hasOwnId({ changeSetId, operationId, files, builtOn }: ChangeSet): boolean {
  return changeSetId === idOfChanges(operationId, files, builtOn)
}

/** Returns the signed decisions of people on a genuine run, and those of its policy where it has one. All others are in `forged`. */
export async function believedDecisions(
  { runId, request }: Run,
  ledger: Pick<Ledger, 'readDecisions'>,
): Promise<Decisions> {
  const decisions = await ledger.readDecisions(runId)
  if (request.accept === 'auto') return decisions
  const all = [...decisions.byChangeSet]
  const believed = all.filter(([, decision]) => isByPerson(decision))
  const ofPolicy = all.flatMap(([id, decision]) => (isByPerson(decision) ? [] : id))
  return { ...decisions, byChangeSet: new Map(believed), forged: [...decisions.forged, ...ofPolicy] }
}

export type AcceptedChangesDeps = {
  ledger: AcceptedDeps['ledger'] & Pick<Ledger, 'readDecisions'>
  records: { readChangeSets: AcceptedDeps['readSets'] }
}

/** `acceptedByPersonAt`: in milliseconds since the epoch; undefined when the policy of the run has accepted it. */
export type AcceptedChange = { set: ChangeSet; node: CodeNode; acceptedByPersonAt: number | undefined }

/** Returns the accepted change sets of a run, with the commit they are for. PUBLISH_005 for a run whose request nobody signed. */
export async function acceptedChanges(run: Run, { ledger, records }: AcceptedChangesDeps): Promise<AcceptedChange[]> {
  requireGenuine(run)
  const decisions = await believedDecisions(run, ledger)
  const { sets, nodeOf } = await readAccepted(run, decisions, { ledger, readSets: records.readChangeSets })
  const operations = await mapBounded(sets.filter(hasOwnId), readsAtOnce, async (set) => ({
    set,
    node: await nodeOf(set.operationId),
  }))
  return operations.flatMap(({ set, node }) => {
    const decision = decisions.byChangeSet.get(set.changeSetId)
    const acceptedByPersonAt = decision !== undefined && isByPerson(decision) ? decision.at : undefined
    return node === undefined ? [] : [{ set, node, acceptedByPersonAt }]
  })
}
