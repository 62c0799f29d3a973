import type { NewEvent } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { isEnded } from '#domain/run.ts'
import { failRun, type StageEnd } from '#ledger/run-stage.ts'
import { collectGarbage } from '#platform/collect-garbage.ts'
import { ignoredReason } from '#platform/walk-folder.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Producer } from '#queues/producer.ts'
import { type SnapshotDeps, takeSnapshot } from '../snapshot/take-snapshot.ts'
import { firstSkipped } from './discovery-stage.ts'

export type SnapshotStageDeps = SnapshotDeps & {
  ledger: Pick<Ledger, 'cancel' | 'getRun' | 'move'>
  producer: Pick<Producer, 'add'>
}

/** Smaller snapshots do not leave unusually much garbage. */
const muchBytes = 32 * 1024 * 1024
const origin = { kind: 'discovery', id: 'discovery' } as const

/** Step 2 of a run: its archive becomes a snapshot, then discovery is asked for. Running it again changes nothing. */
export async function runSnapshotStage(runId: RunId, deps: SnapshotStageDeps, signal: AbortSignal): Promise<StageEnd> {
  const run = await deps.ledger.getRun(runId)
  if (isEnded(run.status)) return 'idle'
  const started: NewEvent = { event: 'run.started', phase: 'snapshot', origin, data: { agents: run.request.agents } }
  await deps.ledger.move(runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'snapshot' },
    command: 'start',
    events: [started],
  })
  try {
    const { snapshotId, files, bytes, skipped } = await takeSnapshot(run, deps, signal)
    if (bytes > muchBytes) collectGarbage()
    const named = firstSkipped(skipped.filter(({ reason }) => reason !== ignoredReason))
    const passedOver = { skipped: skipped.length, skipped_files: named }
    const stored = { snapshot_id: snapshotId, files, bytes, ...passedOver }
    await deps.ledger.move(runId, {
      from: [{ status: 'running', phase: 'snapshot' }],
      to: { phase: 'discovery' },
      command: 'snapshot',
      set: { snapshotId },
      events: [{ event: 'snapshot.stored', phase: 'snapshot', origin, data: stored }],
    })
  } catch (error) {
    return failRun(runId, error, { phases: ['snapshot'], origin, signal }, deps.ledger)
  }
  await deps.producer.add('discoveries', runId, { run_id: runId, traceparent: run.traceparent })
  return 'ok'
}
