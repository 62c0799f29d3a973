import { z } from 'zod'
import { type ProjectId, RunId } from '#domain/ids.ts'
import type { Retention } from '#store/ledger/retention.ts'
import { objectKeys, objectPlace, type ObjectPlace } from '#store/objects/object-keys.ts'
import { type Log, openStoreUser, type StoreLog } from '#platform/log.ts'
import { AppError, unreachable } from '#domain/error.ts'
import type { CollectionWindow } from '#store/ledger/collection-window.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { type ObjectStore, undefinedWhenMissing } from '#store/objects/object-store.ts'
import { delay } from '#platform/clock.ts'
import { parseJson } from '#domain/json.ts'
import { isMarked, type MarkDeps, markReferences } from './mark-references.ts'

export type CollectDeps = MarkDeps & {
  retention: MarkDeps['retention'] & Pick<Retention, 'knownProjects' | 'ledgerId' | 'inWindow'>
  /**
   * An object put within this time is kept. Longer than a first reference may take (a run's time), and than the hour for which a
   * writer counts on a put.
   */
  graceMs: number
  log: StoreLog & Pick<Log, 'warn'>
}

/** Counts of objects. `young`: without a reference, but within the grace. `unknown`: of no kind of ours, left alone. */
export type Collected = { deleted: number; deletedBytes: number; kept: number; young: number; unknown: number }

/** An upload may wait for its run as long as its idempotency key is stored: 24 hours, and a little more. */
const uploadGraceMs = 25 * 3_600_000
const batchLength = 5_000

/** Deletes the objects of this ledger's projects that no retained run refers to. A project in which anything goes wrong stays as it is. */
export async function collectObjects(deps: CollectDeps, signal: AbortSignal): Promise<Collected> {
  const total = nothingCollected()
  const stores = openStoreUser(deps.log)
  for (const projectId of await deps.retention.knownProjects()) {
    try {
      await collectProject(projectId, total, deps, signal)
      stores.worked()
    } catch (error) {
      signal.throwIfAborted()
      if (stores.failed(error)) continue
      deps.log.warn('the unreferenced objects of a project are not collected', { project_id: projectId, error })
    }
  }
  return total
}

export type Deletion = {
  /** Users deleted these runs. */
  runs: ReadonlySet<RunId>
  /**
   * Called in each window before its first delete. Aborts the collection's signal unless all that other runs have put is
   * referred to, and was so when the marking began; else begins an epoch.
   */
  confirm(window: CollectionWindow): Promise<void>
}

/** Deletes the objects of the project that no other run than the deleted ones refers to, also young ones. */
export async function collectDeleted(projectId: ProjectId, deletion: Deletion, deps: CollectDeps, signal: AbortSignal) {
  const total = nothingCollected()
  await collectProject(projectId, total, { ...deps, deletion }, signal)
  return total
}

function nothingCollected(): Collected {
  return { deleted: 0, deletedBytes: 0, kept: 0, young: 0, unknown: 0 }
}

/** What became referenced since the marking was put since then, so its age keeps it. */
async function collectProject(
  projectId: ProjectId,
  total: Collected,
  deps: CollectDeps & { deletion?: Deletion },
  signal: AbortSignal,
): Promise<void> {
  await expectOwnLedger(projectId, deps)
  const startedAt = Date.now()
  const marks = await markReferences(projectId, deps, signal, deps.deletion?.runs)
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
    const object = objectPlace(projectId, key)
    if (object === undefined) total.unknown += 1
    else if (isMarked(object, marks)) total.kept += 1
    else if (lastModified < lastPutBefore(object)) batch.push({ key, lastPutBefore: lastPutBefore(object) })
    else if (await goesNow(key, object, deps)) batch.push({ key, lastPutBefore: Infinity })
    else total.young += 1
    if (batch.length >= batchLength) await deleteBatch()
  }
  await deleteBatch()
}

/** Is true when a young object without a reference goes since runs were deleted: it is one of theirs, or one that runs share. */
async function goesNow(
  key: string,
  place: ObjectPlace,
  { deletion, objects }: Pick<CollectDeps, 'objects'> & { deletion?: Deletion },
): Promise<boolean> {
  if (deletion === undefined) return false
  switch (place.kind) {
    case 'blob':
    case 'tree':
    case 'snapshot':
    case 'bundle':
    case 'environment':
    case 'node_index':
      return true
    case 'upload':
    case 'run_object':
      return deletion.runs.has(place.runId)
    case 'attempt': {
      const bytes = await objects.get(key).catch(undefinedWhenMissing)
      const owner = bytes && Owned.safeParse(parseJson(Buffer.from(bytes).toString())).data
      return owner !== undefined && deletion.runs.has(owner.runId)
    }
    case 'ledger_mark':
      return false
    default:
      return unreachable(place)
  }
}

const Owned = z.object({ runId: RunId })

type Candidate = { key: string; lastPutBefore: number }

type DeleteDeps = {
  retention: Pick<Retention, 'inWindow'>
  objects: Pick<ObjectStore, 'stat' | 'deleteMany'>
  deletion?: Deletion
}

const sliceLength = 1_000
const statsAtOnce = 32
/** A pause between windows, in which waiting puts are made. */
const restMs = 1_000

/** Deletes the candidates that are still old, each age checked in the window of its delete: a put between the two would be undone. */
export async function deleteUnreferenced(
  candidates: readonly Candidate[],
  { retention, objects, deletion }: DeleteDeps,
  signal: AbortSignal,
): Promise<{ count: number; bytes: number }> {
  const gone = { count: 0, bytes: 0 }
  let next = 0
  const deleteSlices = async (window: CollectionWindow): Promise<true> => {
    const { timeUp, isOpen } = window
    await deletion?.confirm(window)
    const stop = AbortSignal.any([signal, timeUp])
    while (next < candidates.length && !stop.aborted) {
      const slice = candidates.slice(next, next + sliceLength)
      const looked = await mapBounded(slice, statsAtOnce, async ({ key, lastPutBefore }) => {
        const stored = await objects.stat(key)
        return stored !== undefined && stored.lastModified < lastPutBefore ? [stored] : []
      })
      const old = looked.flat()
      // Also when this process was suspended for longer than the window: no timer has fired yet.
      if (stop.aborted || !(await isOpen())) break
      const keys = old.map(({ key }) => key)
      await objects.deleteMany(keys, stop)
      next += slice.length
      gone.count += old.length
      gone.bytes += old.reduce((sum, { bytes }) => sum + bytes, 0)
    }
    return true
  }
  while (next < candidates.length) {
    signal.throwIfAborted()
    const before = next
    const worked = await retention.inWindow(deleteSlices)
    if (worked === undefined)
      throw new AppError('STORE_001', 'another process is collecting, or has taken over the window')
    if (next === before && !signal.aborted)
      throw new AppError('STORE_002', 'nothing could be deleted before the window was over')
    if (next < candidates.length) await delay(restMs, signal)
  }
  return gone
}

const LedgerMark = z.strictObject({ v: z.literal(1), ledger_id: z.string() })

/** A Redis that came back empty, or a second one with this bucket, would delete all: CONFIG_003. */
async function expectOwnLedger(projectId: ProjectId, { retention, objects }: CollectDeps): Promise<void> {
  const key = objectKeys.ledgerMark(projectId)
  const own = await retention.ledgerId()
  const stored = await objects.get(key).catch(undefinedWhenMissing)
  const marked = stored && LedgerMark.parse(parseJson(Buffer.from(stored).toString())).ledger_id
  if (marked === own) return
  if (marked !== undefined) {
    throw new AppError(
      'CONFIG_003',
      `the objects of project "${projectId}" belong to another ledger: this Redis is not the one they were collected with. ` +
        `Give each Redis a bucket of its own; if the other one is gone for good, delete the object ${key}.`,
    )
  }
  await objects.put(key, JSON.stringify({ v: 1, ledger_id: own }), { contentType: 'application/json' })
}
