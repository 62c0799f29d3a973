import { type AppError, hasCode } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { fullNameOf } from '#domain/repository-source.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { failRun, type StageEnd } from '#store/ledger/run-stage.ts'
import { collectGarbage } from '#platform/collect-garbage.ts'
import { ignoredReason } from '#platform/walk-folder.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Producer } from '#store/queues/producer.ts'
import { fetchCode, type FetchCodeDeps, type FetchedCode } from '#stages/snapshot/fetch/fetch-code.ts'
import type { FetchPauses } from '#stages/snapshot/fetch/fetch-pauses.ts'
import { takeSnapshot, type TakenSnapshot } from '#stages/snapshot/take-snapshot.ts'
import { firstSkipped } from './discovery-stage.ts'

export type SnapshotStageDeps = FetchCodeDeps & {
  ledger: Pick<Ledger, 'cancel' | 'getRun' | 'move'>
  producer: Pick<Producer, 'add'>
  pauses: FetchPauses
}

/** Smaller snapshots do not leave unusually much garbage. */
const muchBytes = 32 * 1024 * 1024
const origin = { kind: 'discovery', id: 'discovery' } as const

/** Makes a run's archive, fetched if a code host has the code, a snapshot, then asks for discovery. Running it again changes nothing. */
export async function runSnapshotStage(runId: RunId, deps: SnapshotStageDeps, signal: AbortSignal): Promise<StageEnd> {
  const run = await deps.ledger.getRun(runId)
  if (isEnded(run.status) || deps.pauses.isPaused(runId)) return 'idle'
  const started: NewEvent = { event: 'run.started', phase: 'snapshot', origin, data: { agents: run.request.agents } }
  await deps.ledger.move(runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'snapshot' },
    generation: run.generation,
    command: 'start',
    events: [started],
  })
  try {
    const { repository } = run.request
    const fetched = repository && (await fetchCode(run, repository, deps, signal))
    deps.pauses.forget(runId)
    const taken = await takeSnapshot(run, deps, signal).catch((error: unknown) =>
      dropFetched(run, fetched, error, deps),
    )
    if (taken.bytes > muchBytes) collectGarbage()
    await announce(run, taken, fetched, deps)
  } catch (error) {
    if (hasCode(error, 'HOST_001') && !signal.aborted) return comeBackLater(runId, error, deps)
    return failRun(runId, error, { phases: ['snapshot'], origin, signal, generation: run.generation }, deps.ledger)
  }
  await deps.producer.add('discoveries', runId, { run_id: runId, traceparent: run.traceparent })
  return 'ok'
}

async function dropFetched(
  { uploadKey }: Run,
  fetched: FetchedCode | undefined,
  error: unknown,
  { objects }: SnapshotStageDeps,
): Promise<never> {
  const isUseless = fetched !== undefined && hasCode(error, 'INTAKE_001', 'INTAKE_002', 'INTAKE_003')
  if (isUseless) await objects.delete(uploadKey).catch(() => undefined)
  throw error
}

async function announce(
  { runId, generation, request }: Run,
  { snapshotId, files, bytes, skipped }: TakenSnapshot,
  fetched: FetchedCode | undefined,
  { ledger }: SnapshotStageDeps,
): Promise<void> {
  const named = firstSkipped(skipped.filter(({ reason }) => reason !== ignoredReason))
  const passedOver = { skipped: skipped.length, skipped_files: named }
  const { base } = fetched ?? {}
  const source = {
    ...(request.repository && { repository: fullNameOf(request.repository.repository) }),
    ...(fetched && { commit: fetched.commit }),
    ...(base && { base_commit: base.commit }),
  }
  const stored = { snapshot_id: snapshotId, files, bytes, ...source, ...passedOver }
  await ledger.move(runId, {
    from: [{ status: 'running', phase: 'snapshot' }],
    to: { phase: 'discovery' },
    generation,
    command: 'snapshot',
    set: { snapshotId, ...(base && { baseSnapshotId: base.snapshotId }) },
    events: [{ event: 'snapshot.stored', phase: 'snapshot', origin, data: stored }],
  })
}

async function comeBackLater(runId: RunId, error: AppError, { ledger, pauses }: SnapshotStageDeps): Promise<StageEnd> {
  if (pauses.note(runId, error) === 'again') throw error
  const { code: errorCode, message: reason } = error
  await ledger.cancel(runId, { reason, errorCode, origin, phases: ['snapshot'] })
  return 'failed'
}
