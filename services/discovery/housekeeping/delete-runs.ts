import { undefinedOn } from '#domain/error.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import { isEnded } from '#domain/run.ts'
import type { CollectionWindow } from '#store/ledger/collection-window.ts'
import type { DeletedRun } from '#store/ledger/delete-run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Retention } from '#store/ledger/retention.ts'
import { objectKeys, runPrefix } from '#store/objects/object-keys.ts'
import { repeatEvery } from '#platform/clock.ts'
import { type Log, openStoreUser, type StoreLog } from '#platform/log.ts'
import { type CollectDeps, collectDeleted } from './collect-objects.ts'

export type DeleteDeps = CollectDeps & {
  ledger: Pick<Ledger, 'activeRuns' | 'getRun' | 'isPatching'>
  retention: CollectDeps['retention'] & Pick<Retention, DeleteCommand>
  log: StoreLog & Pick<Log, 'info' | 'warn'>
}
type DeleteCommand =
  | 'runsBeingDeleted'
  | 'requestDeletion'
  | 'endDeletion'
  | 'forgetRun'
  | 'inTurn'
  | 'removeResults'
  | 'whileDeleting'

const everyMs = 1_000

/** Finishes the deletion of runs that users asked for. The returned function stops it, also in the middle of a collection. */
export function runDeletions(deps: DeleteDeps): () => Promise<void> {
  const stop = new AbortController()
  const withoutOwn = new Set<RunId>()
  const stores = openStoreUser(deps.log)
  let lastMessage = ''
  const sayOnce = (message: string, say: () => void) => {
    if (message !== lastMessage) say()
    lastMessage = message
  }
  const stopRounds = repeatEvery(everyMs, async () => {
    try {
      const ids = (await deletionRound(deps, stop.signal, withoutOwn)).map(({ runId }) => runId)
      stores.worked()
      sayOnce(ids.join(), () => ids.length > 0 && deps.log.info('runs are being deleted', { run_ids: ids }))
    } catch (error) {
      if (stop.signal.aborted || stores.failed(error)) return
      sayOnce(String(error), () => deps.log.warn('runs are not deleted', { error }))
    }
  })
  return async () => {
    stop.abort()
    await stopRounds()
  }
}

/** Returns the runs that are left. It may die anywhere. `withoutOwn`: runs of which only shared objects are left. */
export async function deletionRound(deps: DeleteDeps, signal: AbortSignal, withoutOwn = new Set<RunId>()) {
  const due = await deps.retention.runsBeingDeleted()
  if (due.length === 0) return due
  await deps.retention.whileDeleting(async (lost) => {
    for (const [projectId, runs] of Map.groupBy(due, (run) => run.projectId)) {
      await deleteOfProject(projectId, runs, { ...deps, withoutOwn }, AbortSignal.any([signal, lost]))
    }
  })
  const left = await deps.retention.runsBeingDeleted()
  const leftIds = new Set(left.map(({ runId }) => runId))
  for (const runId of withoutOwn) if (!leftIds.has(runId)) withoutOwn.delete(runId)
  return left
}

async function deleteOfProject(
  projectId: ProjectId,
  deleted: readonly AskedRun[],
  deps: DeleteDeps & { withoutOwn: Set<RunId> },
  signal: AbortSignal,
): Promise<void> {
  for (const run of deleted) {
    if (!deps.withoutOwn.has(run.runId) && (await removeOwn(run, deps, signal))) deps.withoutOwn.add(run.runId)
  }
  const runs = deleted.filter(({ runId }) => deps.withoutOwn.has(runId))
  if (runs.length === 0) return
  const isDone = await removeShared(projectId, runs, deps, signal)
  // After the grace the usual collection deletes what is left, which a project that never rests does not let happen before.
  for (const run of runs) if (isDone || run.forMs > deps.graceMs) await finish(run, deps, signal)
}

type AskedRun = Awaited<ReturnType<Retention['runsBeingDeleted']>>[number]

/** Removes what belongs to this run alone. False when it may not be removed yet, or was retried just when somebody deleted it. */
async function removeOwn(run: DeletedRun, deps: DeleteDeps, signal: AbortSignal): Promise<boolean> {
  const { projectId, runId } = run
  const isGoing = await deps.retention.requestDeletion(run).then(() => true, undefinedOn('RUN_005', 'RUN_006'))
  if (isGoing !== true || !(await deps.retention.removeResults(run))) return false
  for (let first: number | null = 0; first !== null;) {
    const page = await deps.retention.readReferences(runId, { first, limit: pageOperations })
    const keys = page.recordHashes.map((hash) => objectKeys.attempt(projectId, hash))
    await deps.objects.deleteMany(keys, signal)
    first = page.next
  }
  await removeObjects(run, deps, signal)
  await deps.objects.delete(objectKeys.upload(projectId, runId))
  return true
}

const pageOperations = 1_000

async function removeObjects({ projectId, runId }: DeletedRun, { objects }: DeleteDeps, signal: AbortSignal) {
  const listed = await Array.fromAsync(objects.list(runPrefix(projectId, runId), signal))
  const keys = listed.map(({ key }) => key)
  await objects.deleteMany(keys, signal)
}

/** Safe whatever the age: no run is being accepted and no patch composed. False while it has to wait. */
async function removeShared(projectId: ProjectId, runs: readonly DeletedRun[], deps: DeleteDeps, signal: AbortSignal) {
  const gone = new Set(runs.map(({ runId }) => runId))
  const before = await settledRuns(projectId, gone, deps)
  if (before === undefined) return false
  const changed = new AbortController()
  const confirm = async ({ beginEpoch }: CollectionWindow) => {
    if ((await settledRuns(projectId, gone, deps)) === before) await beginEpoch()
    else changed.abort()
  }
  const collected = await deps.retention.inTurn(0, async (lost) => {
    const stop = AbortSignal.any([signal, lost, changed.signal])
    return collectDeleted(projectId, { runs: gone, confirm }, deps, stop).catch((error: unknown) => {
      if (!changed.signal.aborted) throw error
      return undefined
    })
  })
  if (collected === undefined) return false
  const { deleted, deletedBytes } = collected
  deps.log.info('runs deleted', { project_id: projectId, run_ids: [...gone], deleted, deleted_bytes: deletedBytes })
  return true
}

/** Returns the project's runs as a text to compare; undefined while one may have put objects that it does not refer to yet. */
async function settledRuns(projectId: ProjectId, gone: ReadonlySet<RunId>, { ledger, retention }: DeleteDeps) {
  if (await ledger.isPatching(projectId)) return undefined
  const active = (await ledger.activeRuns()).filter((run) => run.projectId === projectId)
  for (const { runId } of active) {
    const run = await ledger.getRun(runId).catch(undefinedOn('RUN_001', 'RUN_005'))
    if (run === undefined || run.phase !== 'execution' || isEnded(run.status)) return undefined
  }
  const retained = (await retention.retainedRuns(projectId)).filter((runId) => !gone.has(runId))
  return JSON.stringify({ retained, active: active.map(({ runId }) => runId) })
}

/** An archiver may have stored events of the run until it was forgotten. */
async function finish(run: DeletedRun, deps: DeleteDeps, signal: AbortSignal): Promise<void> {
  await deps.retention.forgetRun(run)
  await removeObjects(run, deps, signal)
  await deps.retention.endDeletion(run)
}
