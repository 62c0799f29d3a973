import { isDeepStrictEqual } from 'node:util'
import type { ChangeSet } from '#domain/change-set.ts'
import { changeSetIdsOf, type Operation, type Outcome } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { changeSetsOf, type AttemptRecord } from '#objects/attempt-record.ts'
import type { BlobStore } from '#objects/blob-store.ts'
import { mapBounded } from '#objects/map-bounded.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import type { SnapshotView } from '#objects/snapshot-view.ts'
import { getAttemptRecord, getBundle, getSuspendedAttempt } from '#objects/stored-records.ts'
import { changeSetFaults } from './change-set-faults.ts'
import type { Findings } from './findings.ts'
import { operationPages } from './operation-pages.ts'

const reads = 16

export type RecordDeps = {
  ledger: Pick<Ledger, 'listOperations'>
  objects: ObjectStore
  blobs: Pick<BlobStore, 'get'>
  /** Undefined when it cannot be read: then the bases of change sets are not looked at. */
  snapshot: SnapshotView | undefined
  findings: Findings
}

/** The change sets the run's outcomes name, by id; null for one whose record cannot be read, which is a finding. */
export type NamedChangeSets = ReadonlyMap<string, ChangeSet | null>

/**
 * Reads the bundles the plan pinned and the record of every settled attempt, and holds each record against the operation
 * that refers to it. Operations of `done` are left out; the others are added to it.
 */
export async function verifyRecords(run: Run, deps: RecordDeps, done: Set<string>): Promise<NamedChangeSets> {
  const sets = new Map<string, ChangeSet | null>()
  const bundles = new Map<string, string>()
  for await (const page of operationPages(deps.ledger, run.runId)) {
    const operations = page.filter(({ operationId }) => !done.has(operationId))
    for (const { operationId } of operations) done.add(operationId)
    for (const { bundle, bundleHash } of operations) bundles.set(bundleHash, bundle)
    await mapBounded(operations, reads, async (operation) => {
      const read = await readChangeSets(run, operation, deps)
      for (const id of operation.outcome === null ? [] : changeSetIdsOf(operation.outcome)) sets.set(id, null)
      for (const set of read) sets.set(set.changeSetId, set)
    })
  }
  await mapBounded([...bundles], reads, ([hash, name]) =>
    deps.findings.read(`bundle ${name}`, getBundle(deps.objects, run.projectId, hash)),
  )
  return sets
}

async function readChangeSets(run: Run, operation: Operation, deps: RecordDeps): Promise<ChangeSet[]> {
  const { operationId, outcome } = operation
  const blame = (fault: string) => deps.findings.blame(`operation ${operationId}: ${fault}`)
  if (operation.suspensionHash !== null) await verifySuspension(run, operation, deps)
  if (outcome === null) return []
  if (outcome.recordHash === undefined) {
    const needsRecord = outcome.status === 'succeeded' || outcome.status === 'unchanged'
    if (needsRecord) blame(`it is ${outcome.status} and names no attempt record`)
    return []
  }
  const reading = getAttemptRecord(deps.objects, run.projectId, outcome.recordHash)
  const record = await deps.findings.read(`operation ${operationId}, its attempt record`, reading)
  if (record === undefined) return []
  for (const fault of recordFaults(record, operation, outcome)) blame(fault)
  const sets = changeSetsOf(record)
  const { snapshot } = deps
  const blobLength = async (hash: string) => {
    const what = `operation ${operationId}, the base of its change set`
    return (await deps.findings.read(what, deps.blobs.get(run.projectId, hash)))?.length
  }
  if (snapshot === undefined) return sets
  for (const set of sets) {
    for (const fault of await changeSetFaults(set, { snapshot, blobLength }))
      blame(`change set ${set.changeSetId}: ${fault}`)
  }
  return sets
}

/** What an operation that waits for a person goes on from; of one that nobody answered, what it had come to. */
async function verifySuspension(
  { projectId }: Run,
  { operationId, suspensionHash }: Operation,
  { objects, findings }: RecordDeps,
): Promise<void> {
  if (suspensionHash === null) return
  const reading = getSuspendedAttempt(objects, projectId, suspensionHash)
  const kept = await findings.read(`operation ${operationId}, what it goes on from`, reading)
  if (kept !== undefined && kept.operationId !== operationId)
    findings.blame(`operation ${operationId}: what it goes on from is of operation ${kept.operationId}`)
}

function recordFaults(record: AttemptRecord, operation: Operation, outcome: Outcome): string[] {
  const { recordHash: _, ...settled } = outcome
  const sets = changeSetsOf(record)
  const faults: string[] = []
  const compare = (what: string, recorded: unknown, kept: unknown) => {
    if (!isDeepStrictEqual(recorded, kept)) faults.push(`its attempt record has another ${what} than the ledger`)
  }
  compare('run', record.runId, operation.runId)
  compare('operation', record.operationId, operation.operationId)
  compare('attempt', record.attempt, operation.attempt)
  compare('bundle', record.bundleHash, operation.bundleHash)
  compare('outcome', record.outcome, settled)
  const made = sets.map((set) => set.changeSetId)
  compare('change set', made, changeSetIdsOf(outcome))
  if (sets.length === 0) return faults
  for (const set of sets) compare('maker of its change set', set.operationId, operation.operationId)
  const paths = new Set(sets.flatMap(({ files }) => files.map((file) => file.path)))
  compare('list of changed files', [...paths].toSorted(), outcome.changedFiles.toSorted())
  return faults
}
