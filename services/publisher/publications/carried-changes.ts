import { carryChanges } from '#composition/carry-changes.ts'
import { chainOf } from '#composition/run-chain.ts'
import { AppError, undefinedOn } from '#domain/error.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import type { PublishedPull } from '#domain/publication.ts'
import type { Run } from '#domain/run.ts'
import type { SnapshotView } from '#objects/snapshot.ts'
import type { CarriedChange } from '#publication/read-publishable.ts'
import { acceptedChanges, type ChooseDeps } from './choose-parts-of.ts'
import type { PublishingRuns } from './publishing-runs.ts'

export type CarryDeps = Pick<ChooseDeps, 'ledger'> & {
  records: ChooseDeps['records'] & {
    readSnapshot(project: ProjectId, snapshotId: string): Promise<Pick<SnapshotView, 'find'>>
  }
  publishing: Pick<PublishingRuns, 'runOfPull'>
}

/** A change of an earlier run in an open pull request: as it is there, and as which one of that run. */
export type Carried = CarriedChange & { runId: RunId; of: string }

/**
 * What the open pull request has of earlier runs, and still is accepted, for the code that the run has. Without it the pull request would lose
 * with each push what nobody has merged yet. `lost`: how many do not fit any more, since somebody has changed the same lines.
 */
export async function carriedChanges(
  run: Run,
  pull: { number: number; agent: string | null } | undefined,
  deps: CarryDeps,
): Promise<{ carried: Carried[]; lost: number }> {
  const repositoryId = run.request.repository?.repository.id ?? 0
  const found = pull === undefined ? [] : await sourcesOf(run, { ...pull, repositoryId }, deps)
  // A retry has the changes of what it retries in its own patch.
  const own = new Set((await chainOf(run, deps.ledger)).map(({ runId }) => runId))
  const sources = found.filter(({ runId }) => !own.has(runId))
  const snapshot = run.snapshotId === null ? undefined : await deps.records.readSnapshot(run.projectId, run.snapshotId)
  const readBlob = (hash: string) => deps.records.readBlob(run.projectId, hash)
  const readNow = async (path: string) => {
    const file = snapshot?.find(path)
    return file && { hash: file.hash, bytes: () => readBlob(file.hash) }
  }
  const carried: Carried[] = []
  let lost = 0
  for (const { runId } of sources) {
    const open = await openOf(runId, deps)
    const agent = pull?.agent ?? null
    const changes = open.filter(({ set }) => agent === null || set.bundle === agent)
    const moved = await carryChanges(
      changes.map(({ set }) => set),
      { readBase: readBlob, readNow },
    )
    const nodes = new Map(changes.map(({ set, node }) => [set.changeSetId, node]))
    lost += moved.lost.length
    for (const { set, of } of moved.carried) {
      const node = nodes.get(of)
      if (node !== undefined) carried.push({ set, node, runId, of })
    }
  }
  return { carried, lost }
}

/** The runs whose changes a pull request has, but for this one. */
async function sourcesOf(
  run: Run,
  { number, repositoryId }: { number: number; repositoryId: number },
  { ledger, publishing }: CarryDeps,
): Promise<PublishedPull['carried']> {
  const pullIn = (one: Run) => one.publication?.pulls.find((other) => other.number === number)
  const own = pullIn(run)
  if (own !== undefined) return own.carried
  const runId = await publishing.runOfPull(repositoryId, number)
  const former = runId === undefined ? undefined : await ledger.getRun(runId).catch(undefinedOn('RUN_001'))
  const before = former && pullIn(former)
  if (former === undefined || before === undefined || former.projectId !== run.projectId) return []
  return [{ runId: former.runId, changeSetIds: before.changeSetIds }, ...before.carried]
}

/** What is accepted in the run and was not merged or closed. PUBLISH_003 for a run that is deleted by now: nothing is known of its changes. */
async function openOf(runId: RunId, deps: CarryDeps): Promise<CarriedChange[]> {
  const run = await deps.ledger.getRun(runId).catch(undefinedOn('RUN_001'))
  if (run === undefined) {
    const reason = `run ${runId}, whose changes the pull request has, is not kept any more`
    throw new AppError('PUBLISH_003', `${reason}: merge it or close it, so that later changes get another one`)
  }
  const pulls = run.publication?.pulls ?? []
  const ended = new Set(pulls.flatMap(({ state, changeSetIds }) => (state === 'open' ? [] : changeSetIds)))
  const changes = await acceptedChanges(run, deps)
  return changes.filter(({ set }) => !ended.has(set.changeSetId))
}
