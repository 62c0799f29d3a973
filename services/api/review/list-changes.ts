import { AppError } from '#domain/error.ts'
import type { OperationId } from '#domain/ids.ts'
import { changeSetIdsOf, type Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { changeSetsOf, type AttemptRecord } from '#objects/attempt-record.ts'
import type { Composition } from '#objects/composition.ts'
import { changedFiles } from './change-files.ts'
import type { ChangeView } from './change-schema.ts'
import { changeView } from './change-view.ts'

/** What was stored about a run's changes. Everything a run refers to is there, or it is STORE_003. */
export type ChangeRecords = {
  readBlob(projectId: string, hash: string): Promise<Uint8Array>
  readAttempt(projectId: string, recordHash: string): Promise<AttemptRecord>
  /** Null while the run is not composed. */
  readComposition(run: Run): Promise<Composition | null>
}

export type ChangeDeps = {
  ledger: Pick<Ledger, 'getOperation' | 'getRun' | 'listOperations'>
  records: ChangeRecords
}

/**
 * One page of the run's change sets, in the order the ledger lists the operations that made them. `limit` counts
 * operations: a mechanical one makes several sets.
 */
export async function listChanges(
  run: Run,
  page: { cursor: string | undefined; limit: number },
  deps: ChangeDeps,
): Promise<{ changes: ChangeView[]; next: string | null }> {
  const { cursor, limit } = page
  const [{ operations, next }, composition] = await Promise.all([
    deps.ledger.listOperations(run.runId, { status: 'succeeded', ...(cursor === undefined ? {} : { cursor }), limit }),
    deps.records.readComposition(run),
  ])
  const views = await Promise.all(operations.map((operation) => viewsOf(operation, { run, composition }, deps)))
  return { changes: views.flat(), next }
}

/**
 * The change sets of one operation, none when it changed nothing. RUN_004 when neither the run nor one that it tries again has
 * it: the patch of a retry holds what went well before.
 */
export async function changesOfOperation(run: Run, operationId: OperationId, deps: ChangeDeps): Promise<ChangeView[]> {
  const [operation, composition] = await Promise.all([
    findOperation(run, operationId, deps),
    deps.records.readComposition(run),
  ])
  return viewsOf(operation, { run, composition }, deps)
}

async function findOperation(
  { runId, request }: Run,
  id: OperationId,
  { ledger }: Pick<ChangeDeps, 'ledger'>,
): Promise<Operation> {
  try {
    return await ledger.getOperation(runId, id)
  } catch (error) {
    const { retryOf } = request
    if (retryOf === undefined || !(error instanceof AppError && error.code === 'RUN_004')) throw error
    const earlier = await ledger.getRun(retryOf).catch(() => undefined) // it may be forgotten by now
    if (earlier === undefined) throw error
    return findOperation(earlier, id, { ledger })
  }
}

async function viewsOf(
  { outcome, node }: Operation,
  { run, composition }: { run: Run; composition: Composition | null },
  { records }: ChangeDeps,
): Promise<ChangeView[]> {
  if (outcome?.recordHash === undefined || changeSetIdsOf(outcome).length === 0) return []
  const conflicts = composition?.conflicts ?? []
  const sets = changeSetsOf(await records.readAttempt(run.projectId, outcome.recordHash))
  return Promise.all(
    sets.map(async (set) => {
      const versions = await changedFiles(set, (hash) => records.readBlob(run.projectId, hash))
      return changeView(set, { node, versions, conflicts })
    }),
  )
}
