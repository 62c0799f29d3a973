import { type AcceptedChange, acceptedChanges, type AcceptedChangesDeps } from '#change-sets/accepted-sets.ts'
import { carryChanges } from '#change-sets/carry-changes.ts'
import { chainOf } from '#change-sets/run-chain.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { AppError, undefinedOn } from '#domain/error.ts'
import { operationId, type ProjectId, type RunId } from '#domain/ids.ts'
import type { PublishedPull } from '#domain/publication.ts'
import type { Run } from '#domain/run.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { PublishingRuns } from './publishing-runs.ts'

export type CarryDeps = AcceptedChangesDeps & {
  records: {
    readBlob(project: ProjectId, hash: string): Promise<Uint8Array>
    readSnapshot(project: ProjectId, snapshotId: string): Promise<Pick<SnapshotView, 'find'>>
  }
  publishing: Pick<PublishingRuns, 'runOfPull'>
}

/** A change of an earlier run for the code that the run has. `of`: its change set in that run. */
export type Carried = AcceptedChange & { runId: RunId; of: string }

/** `published`: those of the run's own and the carried ones that are in open pull requests now. `lost`: what does not fit any more. */
export type CarriedChanges = { carried: Carried[]; lost: ChangeSet[]; published: Set<string> }

type InPulls = ReadonlyMap<RunId, ReadonlySet<string>>

/** A branch on which so many runs wait for people keeps what the newest have made. */
const mostCompared = 30

/**
 * Returns what earlier runs have accepted, and nobody has merged or closed: those whose changes are in the open pull requests, and
 * those that the run was compared with. It may be in a pull request, wait for room, or have no pull request any more. Without it, each
 * push would take from the pull requests what nobody has merged yet, and forget the rest: a push has no work for nodes that it does not
 * change. What was in a pull request and does not fit the code that the run has is lost, since somebody has changed the same lines.
 */
export async function carriedChanges(
  run: Run,
  open: readonly { number: number }[],
  deps: CarryDeps,
): Promise<CarriedChanges> {
  // A retry has the changes of what it retries in its own patch.
  const chain = await chainOf(run, deps.ledger)
  const inPulls = await changesInPulls(chain, open, deps)
  const snapshot = run.snapshotId === null ? undefined : await deps.records.readSnapshot(run.projectId, run.snapshotId)
  const readBase = (hash: string) => deps.records.readBlob(run.projectId, hash)
  const readNow = async (path: string) => {
    const file = snapshot?.find(path)
    return file && { hash: file.hash, bytes: () => readBase(file.hash) }
  }
  const own = new Set(chain.map(({ runId }) => runId))
  // Whoever has ended a pull request of this run does not get the same one from it again.
  const hadHere = new Set(
    (await pullsOf(run, deps.ledger)).flatMap(({ carried }) => carried.flatMap(({ changeSetIds }) => changeSetIds)),
  )
  const found: CarriedChanges = { carried: [], lost: [], published: new Set() }
  const anew = new Set(await judgedWork(run, await acceptedChanges(run, deps), deps))
  const wasThere = new Set([...inPulls.values()].flatMap((ids) => [...ids]))
  for (const [runId, there] of await newestFirst(inPulls, deps)) {
    if (own.has(runId)) {
      for (const id of there) found.published.add(id)
      continue
    }
    const { judged, left } = await changesOf(runId, there, deps)
    const changes = left.filter((one) => !hadHere.has(one.set.changeSetId) && !anew.has(workOf(one)))
    for (const one of judged) anew.add(one)
    const sets = changes.map(({ set }) => set)
    const moved = await carryChanges(sets, { readBase, readNow })
    const lost = new Set(moved.lost)
    found.lost.push(...sets.filter(({ changeSetId }) => lost.has(changeSetId) && there.has(changeSetId)))
    const before = new Map(changes.map((one) => [one.set.changeSetId, one]))
    for (const { set, of } of moved.carried) {
      const one = before.get(of)
      if (one !== undefined) found.carried.push({ ...one, set, runId, of })
      if (wasThere.has(of)) found.published.add(set.changeSetId)
    }
  }
  return found
}

/** Sorts runs by their pushes: a retry is newer than the run of a later push, and has what was made for the older code. */
async function newestFirst(inPulls: InPulls, { ledger }: CarryDeps): Promise<[RunId, ReadonlySet<string>][]> {
  const pushes = await Promise.all([...inPulls.keys()].map((runId) => pushOf(runId, ledger)))
  const runs = [...inPulls].map((one, at) => ({ one, order: `${pushes[at]} ${one[0]}` }))
  return runs.toSorted((first, second) => (first.order < second.order ? 1 : -1)).map(({ one }) => one)
}

/** The run of the push that a run is of, which may retry it: ids of runs sort by time, and a retry is of the old commit. */
export async function pushOf(runId: RunId, ledger: Pick<CarryDeps['ledger'], 'getRun'>): Promise<RunId> {
  const run = await ledger.getRun(runId).catch(undefinedOn('RUN_001'))
  return run === undefined ? runId : ((await chainOf(run, ledger)).at(-1)?.runId ?? runId)
}

/**
 * An agent's work on a node, or its mechanical part: what a later run has made there takes the place of what an earlier one has, also when it was
 * merged, closed or rejected. Several definitions may have one name, such as the two of a property.
 */
function workOf({ set: { bundle, operationId: id }, node: { nodeId } }: AcceptedChange): string {
  return operationId(nodeId, bundle, id === operationId(nodeId, bundle, 'mechanical') ? 'mechanical' : 'agent')
}

/** Names the work that people have decided on in the run and those that it retries. */
async function judgedWork(run: Run, accepted: readonly AcceptedChange[], { ledger }: CarryDeps): Promise<string[]> {
  const chain = await chainOf(run, ledger)
  const { byChangeSet } = await ledger.readDecisions((chain.at(-1) ?? run).runId)
  const rejected = [...byChangeSet.values()].filter(({ verdict }) => verdict === 'rejected')
  return [...accepted.map(workOf), ...rejected.map((one) => one.operationId)]
}

/** Change sets of which a pull request has ended: the run itself does not propose these again. */
export async function endedChanges(run: Run, { ledger }: Pick<CarryDeps, 'ledger'>): Promise<Set<string>> {
  return setsOf(await pullsOf(run, ledger))
}

async function pullsOf(run: Run, ledger: CarryDeps['ledger']): Promise<PublishedPull[]> {
  const pulls = (await chainOf(run, ledger)).flatMap(({ publication }) => publication?.pulls ?? [])
  return pulls.filter(({ state }) => state !== 'open')
}

function setsOf(pulls: readonly PublishedPull[]): Set<string> {
  return new Set(pulls.flatMap(({ changeSetIds }) => changeSetIds))
}

/** Returns what the open pull requests have, by the run that made it. A run that waits for room with all it has is not among them. */
async function changesInPulls(
  chain: readonly [Run, ...Run[]],
  open: readonly { number: number }[],
  { ledger, publishing }: CarryDeps,
): Promise<InPulls> {
  const [run] = chain
  const repositoryId = run.request.repository?.repository.id ?? 0
  const found = new Map<RunId, Set<string>>()
  const add = (runId: RunId, ids: readonly string[]) => {
    const known = getOrMake(found, runId, () => new Set<string>())
    for (const id of ids) known.add(id)
  }
  for (const { number } of open) {
    const isKnown = run.publication?.pulls.some((pull) => pull.number === number) === true
    const holderId = isKnown ? run.runId : await publishing.runOfPull(repositoryId, number)
    if (holderId === undefined) continue
    const holder = await ledger.getRun(holderId).catch(undefinedOn('RUN_001'))
    const pull = holder?.publication?.pulls.find((one) => one.number === number)
    if (holder === undefined || pull === undefined || holder.projectId !== run.projectId) continue
    add(holder.runId, pull.changeSetIds)
    for (const { runId, changeSetIds } of pull.carried) add(runId, changeSetIds)
  }
  // What did not fit into a pull request that has ended is for the next one.
  const former = chain.flatMap(({ publication }) => publication?.pulls ?? [])
  for (const { carried } of former) for (const { runId } of carried) add(runId, [])
  for (const runId of await comparedWith(run, ledger)) add(runId, [])
  return found
}

/** The run that this one was compared with, the one that that was compared with, and so on. */
async function comparedWith(run: Run, ledger: CarryDeps['ledger']): Promise<RunId[]> {
  const found: RunId[] = []
  for (let one: Run | undefined = run; found.length < mostCompared;) {
    const before: RunId | undefined = one.request.repository?.since?.runId
    if (before === undefined || found.includes(before)) break
    one = await ledger.getRun(before).catch(undefinedOn('RUN_001'))
    if (one === undefined || one.projectId !== run.projectId) break
    found.push(before)
  }
  return found
}

/** `left`: nobody has merged or closed these. PUBLISH_003 for a run that is deleted by now: nothing is known of its changes in the pull request. */
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
  const ended = setsOf((await pullsOf(run, deps.ledger)).filter(({ isDeleted }) => isDeleted !== true))
  const accepted = await acceptedChanges(run, deps)
  const left = accepted.filter(({ set }) => !ended.has(set.changeSetId))
  return { judged: await judgedWork(run, accepted, deps), left }
}
