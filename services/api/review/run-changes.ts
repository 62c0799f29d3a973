import { hasCode, unreachable } from '#domain/error.ts'
import type { OperationId } from '#domain/ids.ts'
import { changeSetIdsOf, type Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { type AttemptRecord, changeSetsOf } from '#objects/attempt-record.ts'
import { type Composition, conflictView } from '#objects/composition.ts'
import { applyEdits, type FileChange } from '#domain/change-set.ts'
import { type FileVersions, unifiedDiff } from '#platform/unified-diff.ts'
import { viewOf } from '../http/schema-parts.ts'
import { ChangeView } from './change-endpoints.ts'

/** Reads what is stored about a run's changes. STORE_003 when something that a run refers to is missing. */
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

/** Reads file contents of one project by their hash. */
type ReadBlob = (hash: string) => Promise<Uint8Array>

/**
 * One page of the run's change sets, in the ledger's order of the operations that made them. `limit` counts operations: a
 * mechanical one makes several sets.
 */
export async function listChanges(
  run: Run,
  { cursor, limit }: { cursor: string | undefined; limit: number },
  deps: ChangeDeps,
): Promise<{ changes: ChangeView[]; next: string | null }> {
  const [{ operations, next }, composition] = await Promise.all([
    deps.ledger.listOperations(run.runId, { status: 'succeeded', ...(cursor === undefined ? {} : { cursor }), limit }),
    deps.records.readComposition(run),
  ])
  const views = await Promise.all(operations.map((operation) => viewsOf(operation, { run, composition }, deps)))
  return { changes: views.flat(), next }
}

/**
 * The change sets of one operation; none when it changed nothing. The operation may be one of a run that this one retries,
 * since the patch of a retry has the changes that succeeded before. RUN_004 when none of these runs has it.
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
    if (retryOf === undefined || !hasCode(error, 'RUN_004')) throw error
    const earlier = await ledger.getRun(retryOf).catch(() => undefined) // it may have been deleted by now
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
  const readBlob: ReadBlob = (hash) => records.readBlob(run.projectId, hash)
  const sets = changeSetsOf(await records.readAttempt(run.projectId, outcome.recordHash))
  return Promise.all(
    sets.map(async (set) => {
      const versions = await Promise.all(set.files.map((file) => versionsOf(file, readBlob)))
      const conflict = composition?.conflicts.find((entry) => entry.changeSetId === set.changeSetId)
      return viewOf(ChangeView, set, {
        agent: set.bundle,
        path: node.path,
        qualified_name: node.qualifiedName,
        files: set.files.map(({ path, kind }) => ({ path, kind })),
        diff: Buffer.concat(versions.map(unifiedDiff)).toString(),
        verdict: 'pending' as const,
        conflict: conflict && conflictView(conflict),
      })
    }),
  )
}

/** A file of a change set before and after, against its own base. */
async function versionsOf(file: FileChange, readBlob: ReadBlob): Promise<FileVersions> {
  switch (file.kind) {
    case 'create':
      return { path: file.path, before: null, after: Buffer.from(file.content) }
    case 'delete':
      return { path: file.path, before: await readBlob(file.baseHash), after: null }
    case 'edit': {
      const before = await readBlob(file.baseHash)
      return { path: file.path, before, after: applyEdits(before, file.edits) }
    }
    default:
      return unreachable(file)
  }
}

/**
 * The patch of a composition, one file at a time in the order of their paths, so that only one file is in memory. Yields
 * nothing when nothing changed.
 */
export async function* proposedPatch({ files }: Composition, readBlob: ReadBlob): AsyncGenerator<Uint8Array> {
  const contentOf = async (hash: string | null) => (hash === null ? null : readBlob(hash))
  const changed = files.filter((file) => file.baseHash !== file.resultHash)
  const sorted = changed.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
  for (const { path, baseHash, resultHash } of sorted) {
    const [before, after] = await Promise.all([contentOf(baseHash), contentOf(resultHash)])
    yield unifiedDiff({ path, before, after })
  }
}
