import { type AcceptedChange, acceptedChanges, type AcceptedChangesDeps } from '#change-sets/accepted-sets.ts'
import { carryChanges } from '#change-sets/carry-changes.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { AppError, undefinedOn } from '#domain/error.ts'
import { operationId, type ProjectId, type RunId } from '#domain/ids.ts'
import { originalId } from '#domain/operation.ts'
import type { PublishedPull } from '#domain/publication.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { endedInSlices } from '#store/ledger/read-operations.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { PublishingRuns } from './publishing-runs.ts'

export type CarryDeps = AcceptedChangesDeps & {
  ledger: AcceptedChangesDeps['ledger'] & Pick<Ledger, 'endedOperations' | 'getRun'>
  records: {
    readBlob(project: ProjectId, hash: string): Promise<Uint8Array>
    readSnapshot(project: ProjectId, snapshotId: string): Promise<Pick<SnapshotView, 'find'>>
  }
  publishing: Pick<PublishingRuns, 'runOfPull'>
}

/** `of`: the change set in the earlier run. */
export type Carried = AcceptedChange & { runId: RunId; of: string }

/** `published`: those of the run's own and the carried ones that are in open pull requests now. `lost`: what does not fit any more. */
export type CarriedChanges = { carried: Carried[]; lost: ChangeSet[]; published: Set<string> }

type InPulls = ReadonlyMap<RunId, ReadonlySet<string>>

/** A branch on which so many runs wait for people keeps what the newest have made. */
const mostCompared = 30

/**
 * Returns what earlier runs have accepted and nobody has merged or closed, of open pull requests and of runs that this one was compared with:
 * a push has no work for nodes that it does not change. What was in a pull request and does not fit the code any more is lost.
 */
export async function carriedChanges(
  run: Run,
  open: readonly { number: number }[],
  deps: CarryDeps,
): Promise<CarriedChanges> {
  const inPulls = await changesInPulls(run, open, deps)
  const snapshot = run.snapshotId === null ? undefined : await deps.records.readSnapshot(run.projectId, run.snapshotId)
  const readBase = (hash: string) => deps.records.readBlob(run.projectId, hash)
  const readNow = async (path: string) => {
    const file = snapshot?.find(path)
    return file && { hash: file.hash, bytes: () => readBase(file.hash) }
  }
  // Whoever has ended a pull request of this run does not get the same one from it again.
  const hadHere = new Set(
    endedPullsOf(run).flatMap(({ carried }) => carried.flatMap(({ changeSetIds }) => changeSetIds)),
  )
  const result: CarriedChanges = { carried: [], lost: [], published: new Set() }
  const anew = new Set(await judgedWork(run, await acceptedChanges(run, deps), deps))
  const wasThere = new Set([...inPulls.values()].flatMap((ids) => [...ids]))
  // Ids of runs sort by time: the newest come first.
  for (const [runId, there] of [...inPulls].toSorted(([left], [right]) => (left < right ? 1 : -1))) {
    if (runId === run.runId) {
      for (const id of there) result.published.add(id)
      continue
    }
    const { judged, left } = await changesOf(runId, there, deps)
    const changes = left.filter((change) => !hadHere.has(change.set.changeSetId) && !anew.has(workOf(change)))
    for (const work of judged) anew.add(work)
    const sets = changes.map(({ set }) => set)
    const moved = await carryChanges(sets, { readBase, readNow })
    const lost = new Set(moved.lost)
    result.lost.push(...sets.filter(({ changeSetId }) => lost.has(changeSetId) && there.has(changeSetId)))
    const before = new Map(changes.map((change) => [change.set.changeSetId, change]))
    for (const { set, of } of moved.carried) {
      const change = before.get(of)
      if (change !== undefined) result.carried.push({ ...change, set, runId, of })
      if (wasThere.has(of)) result.published.add(set.changeSetId)
    }
  }
  return result
}

/** What a later run has made of the same work takes the place of an earlier one's. Several definitions may have one name. */
function workOf({ set: { bundle, operationId: id }, node: { nodeId } }: AcceptedChange): string {
  return operationId(nodeId, bundle, id === operationId(nodeId, bundle, 'mechanical') ? 'mechanical' : 'agent')
}

async function judgedWork(
  { runId }: Run,
  accepted: readonly AcceptedChange[],
  { ledger }: CarryDeps,
): Promise<string[]> {
  const { byChangeSet } = await ledger.readDecisions(runId)
  const rejected = [...byChangeSet.values()].filter(({ verdict }) => verdict === 'rejected')
  const makers = [...new Set(rejected.map((change) => change.operationId))]
  return [...accepted.map(workOf), ...(await endedInSlices(runId, makers, ledger)).map(originalId)]
}

/** Returns the change sets of which a pull request has ended: the run itself does not propose these again. */
export function endedChanges(run: Run): Set<string> {
  return setsOf(endedPullsOf(run))
}

function endedPullsOf({ publication }: Run): PublishedPull[] {
  return (publication?.pulls ?? []).filter(({ state }) => state !== 'open')
}

function setsOf(pulls: readonly PublishedPull[]): Set<string> {
  return new Set(pulls.flatMap(({ changeSetIds }) => changeSetIds))
}

/** Returns what the open pull requests have, by the run that made it. */
async function changesInPulls(
  run: Run,
  open: readonly { number: number }[],
  { ledger, publishing }: CarryDeps,
): Promise<InPulls> {
  const repositoryId = run.request.repository?.repository.id ?? 0
  const byRun = new Map<RunId, Set<string>>()
  const add = (runId: RunId, ids: readonly string[]) => {
    const known = getOrMake(byRun, runId, () => new Set<string>())
    for (const id of ids) known.add(id)
  }
  for (const { number } of open) {
    const isKnown = run.publication?.pulls.some((pull) => pull.number === number) === true
    const holderId = isKnown ? run.runId : await publishing.runOfPull(repositoryId, number)
    if (holderId === undefined) continue
    const holder = await ledger.getRun(holderId).catch(undefinedOn('RUN_001'))
    const pull = holder?.publication?.pulls.find((known) => known.number === number)
    if (holder === undefined || pull === undefined || holder.projectId !== run.projectId) continue
    add(holder.runId, pull.changeSetIds)
    for (const { runId, changeSetIds } of pull.carried) add(runId, changeSetIds)
  }
  // What did not fit into a pull request that has ended is for the next one.
  for (const { carried } of run.publication?.pulls ?? []) for (const { runId } of carried) add(runId, [])
  for (const runId of await comparedWith(run, ledger)) add(runId, [])
  return byRun
}

/** Returns the run that this one was compared with, the one that that was compared with, and so on. */
async function comparedWith(run: Run, ledger: CarryDeps['ledger']): Promise<RunId[]> {
  const chain: RunId[] = []
  for (let current: Run | undefined = run; current !== undefined && chain.length < mostCompared;) {
    const before: RunId | undefined = current.request.repository?.since?.runId
    if (before === undefined || chain.includes(before)) break
    current = await ledger.getRun(before).catch(undefinedOn('RUN_001'))
    if (current?.projectId !== run.projectId) break
    chain.push(before)
  }
  return chain
}

/** `left`: nobody has merged or closed these. PUBLISH_003 for a run that is deleted by now. */
async function changesOf(
  runId: RunId,
  inPulls: ReadonlySet<string>,
  deps: CarryDeps,
): Promise<{ judged: string[]; left: AcceptedChange[] }> {
  const run = await deps.ledger.getRun(runId).catch(undefinedOn('RUN_001'))
  if (run === undefined && inPulls.size > 0) {
    const reason = `run ${runId}, whose changes the pull request has, is not kept any more`
    throw new AppError('PUBLISH_003', `${reason}: merge it or close it, so that later changes get another one`)
  }
  if (run === undefined || run.publication?.isDismissed === true) return { judged: [], left: [] }
  const ended = setsOf(endedPullsOf(run).filter(({ isDeleted }) => isDeleted !== true))
  const accepted = await acceptedChanges(run, deps)
  const left = accepted.filter(({ set }) => !ended.has(set.changeSetId))
  return { judged: await judgedWork(run, accepted, deps), left }
}
