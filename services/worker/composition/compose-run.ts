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
import { operationPages } from '#proof/operation-pages.ts'
import type { EvidenceChecker } from '../evidence/evidence-checker.ts'
import type { ReadRunRules } from '../evidence/run-rules.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import { proveComposition, type Proven } from './prove-composition.ts'

export type CompositionDeps = {
  ledger: Pick<Ledger, 'cancel' | 'getRun' | 'listOperations' | 'move'>
  objects: ObjectStore
  blobs: Pick<BlobStore, 'get' | 'put'>
  evidence: EvidenceChecker
  python: Pick<LoadedLanguage, 'read'>
  runRules: ReadRunRules
  workerId: string
}

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
    await complete(run, deps, signal)
  } catch (error) {
    await failRun(
      runId,
      error,
      { phases: ['review'], origin: { kind: 'worker', id: deps.workerId }, signal },
      deps.ledger,
    )
  }
}

async function complete(run: Run, deps: CompositionDeps, signal: AbortSignal): Promise<void> {
  const { sets, earlier, totals } = await collect(run, deps, signal)
  const proven = await proveComposition(sets, {
    evidence: deps.evidence,
    python: deps.python,
    rules: await deps.runRules(run),
    async readBlob(hash) {
      signal.throwIfAborted() // another worker may have the job by now, or the run be stopped
      return deps.blobs.get(run.projectId, hash)
    },
    async storeBlob(bytes) {
      signal.throwIfAborted()
      return deps.blobs.put(run.projectId, bytes)
    },
  })
  const composition = { v: 1 as const, runId: run.runId, of: 'proposed' as const, ...proven }
  const compositionKey = await putComposition(deps.objects, run.projectId, composition)
  await deps.ledger.move(run.runId, {
    from: [{ status: 'running', phase: 'review' }],
    to: { status: 'completed' },
    command: 'complete',
    set: { compositionKey },
    events: closingEvents(run, { sets, earlier, totals }, proven, deps.workerId),
  })
}

type Totals = { turns: number; promptTokens: number; completionTokens: number }

type Collected = {
  sets: ChangeSet[]
  /** How many of the sets were made by the runs this one tries again. */
  earlier: number
  totals: Totals
}

async function collect(run: Run, deps: CompositionDeps, signal: AbortSignal): Promise<Collected> {
  const totals: Totals = { turns: 0, promptTokens: 0, completionTokens: 0 }
  const own = new Set<string>()
  const sets: ChangeSet[] = []
  for await (const operations of operationPages(deps.ledger, run.runId)) {
    signal.throwIfAborted()
    for (const { operationId, outcome } of operations) {
      own.add(operationId)
      totals.turns += outcome?.turns ?? 0
      totals.promptTokens += outcome?.promptTokens ?? 0
      totals.completionTokens += outcome?.completionTokens ?? 0
    }
    sets.push(...(await changeSetsOf(operations, run.projectId, deps.objects)))
  }
  const earlier = await earlierSets(run, own, deps, signal)
  return { sets: [...earlier, ...sets], earlier: earlier.length, totals }
}

/** Of the runs this one tries again, over the same snapshot: what went well there and was not done again. */
async function earlierSets(
  run: Run,
  redone: ReadonlySet<string>,
  deps: CompositionDeps,
  signal: AbortSignal,
): Promise<ChangeSet[]> {
  const { retryOf } = run.request
  if (retryOf === undefined) return []
  const earlier = await deps.ledger.getRun(retryOf)
  if (earlier.snapshotId !== run.snapshotId) return []
  const sets: ChangeSet[] = []
  const done = new Set(redone)
  for await (const operations of operationPages(deps.ledger, retryOf)) {
    signal.throwIfAborted()
    const others = operations.filter(({ operationId }) => !redone.has(operationId))
    for (const { operationId } of others) done.add(operationId)
    sets.push(...(await changeSetsOf(others, run.projectId, deps.objects)))
  }
  return [...(await earlierSets(earlier, done, deps, signal)), ...sets]
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

function closingEvents(run: Run, { sets, earlier, totals }: Collected, proven: Proven, workerId: string): NewEvent[] {
  const origin = { kind: 'worker', id: workerId } as const
  const composed = {
    change_sets: sets.length,
    earlier_change_sets: earlier,
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
