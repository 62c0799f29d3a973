import type { ProjectId } from '#domain/ids.ts'
import type { Retention } from '#ledger/retention.ts'
import { objectPlace, type ObjectPlace } from '#objects/object-place.ts'
import type { Log } from '#platform/log.ts'
import { deleteUnreferenced, type Candidate } from './delete-unreferenced.ts'
import { isMarked, markReferences, type MarkDeps } from './mark-references.ts'
import { expectOwnLedger } from './own-ledger.ts'

export type CollectDeps = MarkDeps & {
  retention: MarkDeps['retention'] & Pick<Retention, 'knownProjects' | 'ledgerId' | 'inWindow'>
  /**
   * An object put within this time is kept, referred to or not. It must be longer than an object may wait for its first
   * reference, which is at most a run's time, and than the hour for which a writer counts on what it has put.
   */
  graceMs: number
  log: Pick<Log, 'warn'>
}

/** Counts of objects. `young`: without a reference, but within the grace. `unknown`: of no kind of ours, left alone. */
export type Collected = { deleted: number; deletedBytes: number; kept: number; young: number; unknown: number }

/** An upload may wait for its run as long as its idempotency key is remembered, 24 hours, and a little more. */
const uploadGraceMs = 25 * 3_600_000
const batchLength = 5_000

/**
 * Deletes what no retained run refers to, of every project this ledger knows. A project in which anything goes wrong is
 * left as it is, and the others go on.
 */
export async function collectObjects(deps: CollectDeps, signal: AbortSignal): Promise<Collected> {
  const total: Collected = { deleted: 0, deletedBytes: 0, kept: 0, young: 0, unknown: 0 }
  for (const projectId of await deps.retention.knownProjects()) {
    try {
      await collectProject(projectId, total, deps, signal)
    } catch (error) {
      signal.throwIfAborted()
      deps.log.warn('the unreferenced objects of a project are not collected', { project_id: projectId, error })
    }
  }
  return total
}

/**
 * Marks first, then deletes what is neither marked nor young. What became referenced since the marking began was put
 * since then too, or shortly before, so its age keeps it (blob-store.ts, collection-window.ts).
 */
async function collectProject(
  projectId: ProjectId,
  total: Collected,
  deps: CollectDeps,
  signal: AbortSignal,
): Promise<void> {
  await expectOwnLedger(projectId, deps)
  const startedAt = Date.now()
  const marks = await markReferences(projectId, deps, signal)
  const lastPutBefore = ({ kind }: ObjectPlace) =>
    startedAt - (kind === 'upload' ? Math.max(deps.graceMs, uploadGraceMs) : deps.graceMs)
  let batch: Candidate[] = []
  const deleteBatch = async () => {
    const gone = await deleteUnreferenced(batch, deps, signal)
    total.deleted += gone.count
    total.deletedBytes += gone.bytes
    total.young += batch.length - gone.count
    batch = []
  }
  for await (const { key, lastModified } of deps.objects.list(`projects/${projectId}/`, signal)) {
    const place = objectPlace(projectId, key)
    if (place === undefined) total.unknown += 1
    else if (isMarked(place, marks)) total.kept += 1
    else if (lastModified >= lastPutBefore(place)) total.young += 1
    else batch.push({ key, lastPutBefore: lastPutBefore(place) })
    if (batch.length >= batchLength) await deleteBatch()
  }
  await deleteBatch()
}
