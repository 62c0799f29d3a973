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
  ledger: Pick<Ledger, 'listOperations'>
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
  const conflicts = composition?.conflicts ?? []
  const views = await Promise.all(operations.map((operation) => viewsOf(operation)))
  return { changes: views.flat(), next }

  async function viewsOf({ outcome }: Operation): Promise<ChangeView[]> {
    if (outcome?.recordHash === undefined || changeSetIdsOf(outcome).length === 0) return []
    const record = await deps.records.readAttempt(run.projectId, outcome.recordHash)
    return Promise.all(
      changeSetsOf(record).map(async (changeSet) => {
        const versions = await changedFiles(changeSet, (hash) => deps.records.readBlob(run.projectId, hash))
        return changeView(changeSet, { versions, conflicts })
      }),
    )
  }
}
