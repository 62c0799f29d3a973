import { acceptedChanges, type AcceptedChangesDeps } from '#composition/accepted-sets.ts'
import { carryChanges } from '#composition/carry-changes.ts'
import { chainOf } from '#composition/run-chain.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { AppError, undefinedOn } from '#domain/error.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { SnapshotView } from '#objects/snapshot.ts'
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
export type Carried = { set: ChangeSet; node: CodeNode; runId: RunId; of: string }

/** `published`: those of the run's own and the carried ones that are in open pull requests now. `lost`: what does not fit any more. */
export type CarriedChanges = { carried: Carried[]; lost: ChangeSet[]; published: Set<string> }

type InPulls = ReadonlyMap<RunId, ReadonlySet<string>>

/**
 * What the earlier runs whose changes are in the open pull requests have accepted, and nobody has merged or closed: what is in
 * there, what waits for room, and what was accepted since. Without it, each push would take from the pull requests what nobody has merged
 * yet, and forget the rest: a push has no work for nodes that it does not change. What does not fit the code that the run has is lost, since
 * somebody has changed the same lines.
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
  const found: CarriedChanges = { carried: [], lost: [], published: new Set() }
  for (const [runId, there] of inPulls) {
    if (own.has(runId)) {
      for (const id of there) found.published.add(id)
      continue
    }
    const changes = await openChangesOf(runId, there, deps)
    const sets = changes.map(({ set }) => set)
    const moved = await carryChanges(sets, { readBase, readNow })
    const lost = new Set(moved.lost)
    found.lost.push(...sets.filter(({ changeSetId }) => lost.has(changeSetId)))
    const nodes = new Map(changes.map(({ set, node }) => [set.changeSetId, node]))
    for (const { set, of } of moved.carried) {
      const node = nodes.get(of)
      if (node !== undefined) found.carried.push({ set, node, runId, of })
      if (there.has(of)) found.published.add(set.changeSetId)
    }
  }
  return found
}

/** Change sets that people have merged or closed with a pull request: these are not proposed again. */
export async function endedChanges(run: Run, { ledger }: Pick<CarryDeps, 'ledger'>): Promise<Set<string>> {
  const pulls = (await chainOf(run, ledger)).flatMap(({ publication }) => publication?.pulls ?? [])
  return new Set(pulls.flatMap(({ state, changeSetIds }) => (state === 'open' ? [] : changeSetIds)))
}

/** By the run that made it, what the open pull requests have. Runs of which all waits for room have nothing there. */
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
  return found
}

/** PUBLISH_003 for a run that is deleted by now: nothing is known of its changes in the pull request. */
async function openChangesOf(
  runId: RunId,
  inPulls: ReadonlySet<string>,
  deps: CarryDeps,
): Promise<Awaited<ReturnType<typeof acceptedChanges>>> {
  const run = await deps.ledger.getRun(runId).catch(undefinedOn('RUN_001'))
  if (run === undefined && inPulls.size > 0) {
    const reason = `run ${runId}, whose changes the pull request has, is not kept any more`
    throw new AppError('PUBLISH_003', `${reason}: merge it or close it, so that later changes get another one`)
  }
  if (run === undefined) return []
  const ended = await endedChanges(run, deps)
  return (await acceptedChanges(run, deps)).filter(({ set }) => !ended.has(set.changeSetId))
}
