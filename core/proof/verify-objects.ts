import type { ChangeSet } from '#domain/change-set.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Violation } from '#ledger/violation.ts'
import { openBlobStore } from '#objects/blob-store.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { openFindings } from './findings.ts'
import { verifyComposition } from './verify-composition.ts'
import { verifyRecords } from './verify-records.ts'
import { verifySnapshot } from './verify-snapshot.ts'

export type ObjectProofDeps = { ledger: Pick<Ledger, 'getRun' | 'listOperations'>; objects: ObjectStore }

/** Base blobs are read once for each change set that is made on them; most runs touch few files often. */
const maxCacheBytes = 32 * 1024 * 1024

/**
 * Invariant 7: everything the run refers to is there and is what its name says. Reads each object once, with bounded
 * concurrency; holds the change sets of the run in memory, as the composition does. STORE_002 when the store is away.
 */
export async function verifyObjects(run: Run, { ledger, objects }: ObjectProofDeps): Promise<readonly Violation[]> {
  const findings = openFindings()
  const { projectId, snapshotId } = run
  const blobs = openBlobStore(objects, { maxCacheBytes })
  const snapshot = snapshotId === null ? undefined : await verifySnapshot({ projectId, snapshotId }, objects, findings)
  const deps = { ledger, objects, blobs, snapshot, findings }
  const sets = new Map<string, ChangeSet | null>()
  const done = new Set<string>()
  for (let one: Run | undefined = run; one !== undefined; one = await formerOf(one, ledger)) {
    for (const [id, set] of await verifyRecords(one, deps, done)) sets.set(id, set)
  }
  await verifyComposition(run, { objects, blobs, sets, findings })
  return findings.violations
}

/** The run whose change sets this one's composition holds as well, but for what was done again since. */
async function formerOf({ request, snapshotId }: Run, ledger: Pick<Ledger, 'getRun'>): Promise<Run | undefined> {
  if (request.retryOf === undefined) return undefined
  const former = await ledger.getRun(request.retryOf)
  return former.snapshotId === snapshotId ? former : undefined
}
