import { undefinedOn, unreachable } from '#domain/error.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import { laterCompositions } from '#domain/patch-note.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Retention } from '#store/ledger/retention.ts'
import { objectKeys, type ObjectPlace } from '#store/objects/object-keys.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getComposition } from '#store/objects/stored-records.ts'
import { walkSnapshot } from '#store/objects/snapshot.ts'

export type MarkDeps = {
  ledger: Pick<Ledger, 'getRun'>
  retention: Pick<Retention, 'retainedRuns' | 'readReferences'>
  objects: ObjectStore
}

/** Trees are kept apart from blobs: a file with exactly the bytes of a tree object must not count as a folder that was read. */
function noMarks() {
  return {
    runs: new Set<RunId>(),
    uploads: new Set<string>(),
    snapshot: openHashSet(),
    tree: openHashSet(),
    blob: openHashSet(),
    bundle: openHashSet(),
    attempt: openHashSet(),
    environment: openHashSet(),
  }
}
type Marks = ReturnType<typeof noMarks>

const pageOperations = 1_000

/** Marks what the project's runs refer to, except those of `deleted`. Throws the error of any failed read: that reference is not missing. */
export async function markReferences(
  projectId: ProjectId,
  deps: MarkDeps,
  signal: AbortSignal,
  deleted: ReadonlySet<RunId> = new Set(),
): Promise<Marks> {
  const marks = noMarks()
  for (const runId of await deps.retention.retainedRuns(projectId)) {
    signal.throwIfAborted()
    if (deleted.has(runId)) continue
    marks.runs.add(runId)
    marks.uploads.add(objectKeys.upload(projectId, runId))
    // Not there yet, or being forgotten: only the index has it.
    const run = await deps.ledger.getRun(runId).catch(undefinedOn('RUN_001'))
    if (run === undefined) continue
    marks.uploads.add(run.uploadKey) // a retry has the upload of the run before it
    for (const list of [run.request.nodes, run.request.notSent]) if (list !== undefined) marks.blob.add(list.hash)
    if (run.environment?.kind === 'ready') marks.environment.add(run.environment.key)
    await markSnapshots(run, marks, deps)
    await markCompositions(run, marks, deps)
    await markOperations(run, marks, deps)
  }
  return marks
}

/** Is true when the object may be needed: by a retained run, or always, as a mark of the ledger. */
export function isMarked(object: ObjectPlace, marks: Marks): boolean {
  switch (object.kind) {
    case 'blob':
    case 'tree':
    case 'snapshot':
    case 'attempt':
    case 'bundle':
    case 'environment':
      return marks[object.kind].has(object.hash)
    case 'node_index':
      return marks.blob.has(object.blobHash)
    case 'upload':
      return marks.uploads.has(object.key)
    case 'run_object':
      return marks.runs.has(object.runId)
    case 'ledger_mark':
      return true
    default:
      return unreachable(object)
  }
}

async function markSnapshots(run: Run, { snapshot, tree, blob }: Marks, { objects }: MarkDeps): Promise<void> {
  const { projectId } = run
  for (const snapshotId of [run.snapshotId, run.baseSnapshotId]) {
    if (snapshotId === null || !snapshot.add(snapshotId)) continue
    await walkSnapshot(objects, { projectId, snapshotId }, { tree: tree.add, blob: (hash) => void blob.add(hash) })
  }
}

async function markCompositions(run: Run, marks: Marks, deps: MarkDeps): Promise<void> {
  const { runId, projectId, compositionKey } = run
  for (const key of [compositionKey, ...laterCompositions(run)]) {
    if (key === null) continue
    // A patch may have been replaced since the run was read.
    const reading = getComposition(deps.objects, { projectId, runId, hash: key })
    const composition = await (key === compositionKey ? reading : reading.catch(undefinedOn('STORE_003')))
    for (const { baseHash, resultHash } of composition?.files ?? []) {
      for (const hash of [baseHash, resultHash]) if (hash !== null) marks.blob.add(hash)
    }
  }
}

async function markOperations({ runId }: Run, marks: Marks, { retention }: MarkDeps): Promise<void> {
  for (let first: number | null = 0; first !== null;) {
    const page = await retention.readReferences(runId, { first, limit: pageOperations })
    for (const hash of page.bundleHashes) marks.bundle.add(hash)
    for (const hash of page.recordHashes) marks.attempt.add(hash)
    first = page.next
  }
}

/** Keeps SHA-256 hashes as 32 bytes each: 70 MB per million (Node 24), up to 16.7 million, where `add` throws a RangeError. */
function openHashSet() {
  const kept = new Set<string>()
  const packed = (hash: string) => Buffer.from(hash, 'hex').toString('latin1')
  return {
    /** False when it was there already. */
    add(hash: string): boolean {
      const before = kept.size
      return kept.add(packed(hash)).size > before
    },
    has: (hash: string) => kept.has(packed(hash)),
  }
}
