import type { ChangeSet } from '#domain/change-set.ts'
import type { NewEvent } from '#domain/event.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import type { Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import { failRun } from '#ledger/fail-run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { BlobStore } from '#objects/blob-store.ts'
import { mapBounded } from '#objects/map-bounded.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { getAttemptRecord, putComposition } from '#objects/stored-records.ts'
import type { EvidenceChecker } from '../evidence/evidence-checker.ts'
import { proveComposition, type Proven } from './prove-composition.ts'

export type CompositionDeps = {
  ledger: Pick<Ledger, 'getRun' | 'listOperations' | 'move'>
  objects: ObjectStore
  blobs: Pick<BlobStore, 'get' | 'put'>
  evidence: EvidenceChecker
  workerId: string
}

const pageSize = 500
const recordReads = 16

/**
 * Ends a run whose operations have all ended: puts their change sets together, proves the result, stores it and
 * completes the run. Running it again, or for a run that is not at that point, changes nothing. A fault that stays (an
 * object that is gone) fails the run.
 */
export async function composeRun(runId: RunId, deps: CompositionDeps, signal: AbortSignal): Promise<void> {
  const run = await deps.ledger.getRun(runId)
  if (run.status !== 'running' || run.phase !== 'review') return
  try {
    await complete(run, deps)
  } catch (error) {
    await failRun(runId, error, { phase: 'review', origin: { kind: 'worker', id: deps.workerId }, signal }, deps.ledger)
  }
}

async function complete(run: Run, deps: CompositionDeps): Promise<void> {
  const { sets, totals } = await collect(run, deps)
  const proven = await proveComposition(sets, {
    evidence: deps.evidence,
    readBlob: (hash) => deps.blobs.get(run.projectId, hash),
    storeBlob: (bytes) => deps.blobs.put(run.projectId, bytes),
  })
  const composition = { v: 1 as const, runId: run.runId, of: 'proposed' as const, ...proven }
  const compositionKey = await putComposition(deps.objects, run.projectId, composition)
  await deps.ledger.move(run.runId, {
    from: [{ status: 'running', phase: 'review' }],
    to: { status: 'completed' },
    command: 'complete',
    set: { compositionKey },
    events: closingEvents(run, sets, proven, totals, deps.workerId),
  })
}

type Totals = { turns: number; promptTokens: number; completionTokens: number }

async function collect(run: Run, deps: CompositionDeps): Promise<{ sets: ChangeSet[]; totals: Totals }> {
  const sets: ChangeSet[] = []
  const totals: Totals = { turns: 0, promptTokens: 0, completionTokens: 0 }
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page = await deps.ledger.listOperations(run.runId, {
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const { outcome } of page.operations) {
      totals.turns += outcome?.turns ?? 0
      totals.promptTokens += outcome?.promptTokens ?? 0
      totals.completionTokens += outcome?.completionTokens ?? 0
    }
    sets.push(...(await changeSetsOf(page.operations, run.projectId, deps.objects)))
    cursor = page.next
  }
  return { sets, totals }
}

async function changeSetsOf(
  operations: readonly Operation[],
  projectId: ProjectId,
  objects: ObjectStore,
): Promise<ChangeSet[]> {
  const hashes = operations.flatMap(({ outcome }) =>
    outcome?.changeSetId === undefined || outcome.recordHash === undefined ? [] : [outcome.recordHash],
  )
  const records = await mapBounded(hashes, recordReads, (hash) => getAttemptRecord(objects, projectId, hash))
  return records.flatMap(({ changeSet }) => (changeSet === null ? [] : [changeSet]))
}

function closingEvents(
  run: Run,
  sets: readonly ChangeSet[],
  proven: Proven,
  totals: Totals,
  workerId: string,
): NewEvent[] {
  const origin = { kind: 'worker', id: workerId } as const
  const composed = {
    change_sets: sets.length,
    files: proven.files.length,
    conflicts: proven.conflicts
      .map(({ changeSetId, path, errorCode }) => ({
        change_set_id: changeSetId,
        path,
        error_code: errorCode,
      }))
      .slice(0, 50),
    conflicts_total: proven.conflicts.length,
  }
  const completed = {
    operations: run.counts,
    change_sets: sets.length,
    files_changed: proven.files.length,
    conflicts: proven.conflicts.length,
    turns: totals.turns,
    prompt_tokens: totals.promptTokens,
    completion_tokens: totals.completionTokens,
  }
  return [
    { event: 'run.composed', phase: 'review', origin, data: composed },
    { event: 'run.completed', phase: 'review', origin, data: completed },
  ]
}
