import { isDeepStrictEqual } from 'node:util'
import { replacedSets } from '#change-sets/sets-of-run.ts'
import type { ChangeSet, Edit, FileChange } from '#domain/change-set.ts'
import { changeSetId } from '#domain/ids.ts'
import { changeSetIdsOf, type Operation, originalId, type Outcome } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { type AttemptRecord, changeSetsOf } from '#store/objects/attempt-record.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import { getDecisionRecord } from '#store/objects/decision-record.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import { getAttemptRecord, getBundle, getUnfinishedAttempt } from '#store/objects/stored-records.ts'
import { hasCode, unreachable } from '#domain/error.ts'
import type { Violation } from '#store/ledger/accounts.ts'
import { operationPages } from '#store/ledger/read-operations.ts'

const reads = 16

export type RecordDeps = {
  ledger: Pick<Ledger, 'listOperations'>
  objects: ObjectStore
  blobs: Pick<BlobStore, 'get'>
  /** Undefined when it cannot be read: then the bases of change sets are not checked. */
  snapshot: SnapshotView | undefined
  audit: ObjectAudit
}

/** The change sets the run's outcomes name, by id; null for one whose record cannot be read, which is a violation. */
export type NamedChangeSets = ReadonlyMap<string, ChangeSet | null>

/** Compares the record of every settled attempt with its operation. `replaced`: the change sets that a later record has made anew. */
export async function verifyRecords(
  run: Run,
  deps: RecordDeps,
): Promise<{ sets: NamedChangeSets; replaced: ReadonlySet<string>; madeIn: ReadonlyMap<string, number> }> {
  const sets = new Map<string, ChangeSet | null>()
  const bundles = new Map<string, string>()
  const madeIn = new Map<string, number>()
  const records: Pick<Operation, 'repeats' | 'outcome'>[] = []
  for await (const operations of operationPages(deps.ledger, run.runId)) {
    for (const { repeats, outcome } of operations) {
      if (repeats !== null || (outcome && changeSetIdsOf(outcome).length > 0)) records.push({ repeats, outcome })
    }
    for (const { bundle, bundleHash } of operations) bundles.set(bundleHash, bundle)
    await mapBounded(operations, reads, async (operation) => {
      const read = await readChangeSets(run, operation, deps)
      for (const id of operation.outcome === null ? [] : changeSetIdsOf(operation.outcome)) sets.set(id, null)
      for (const set of read) sets.set(set.changeSetId, set)
      for (const { changeSetId: id } of read) madeIn.set(id, Math.min(operation.generation, madeIn.get(id) ?? Infinity))
    })
  }
  await mapBounded([...bundles], reads, ([hash, name]) =>
    deps.audit.read(`bundle ${name}`, hash, getBundle(deps.objects, run.projectId, hash)),
  )
  return { sets, replaced: replacedSets(records), madeIn }
}

async function readChangeSets(run: Run, operation: Operation, deps: RecordDeps): Promise<ChangeSet[]> {
  const { operationId, outcome } = operation
  const blame = (fault: string) => deps.audit.blame(`operation ${operationId}: ${fault}`)
  if (operation.suspensionHash !== null) await verifySuspension(run, operation, deps)
  if (outcome === null) return []
  if (outcome.recordHash === undefined) {
    const needsRecord = outcome.status === 'succeeded' || outcome.status === 'unchanged'
    if (needsRecord) blame(`it is ${outcome.status} and names no attempt record`)
    return []
  }
  const { recordHash: hash } = outcome
  const reading = getAttemptRecord(deps.objects, run.projectId, hash)
  const record = await deps.audit.read(`operation ${operationId}, its attempt record`, hash, reading)
  if (record === undefined) return []
  for (const fault of recordFaults(record, operation, outcome)) blame(fault)
  const sets = changeSetsOf(record)
  const { snapshot } = deps
  const blobLength = async (base: string) => {
    const what = `operation ${operationId}, the base of its change set`
    return (await deps.audit.read(what, base, deps.blobs.get(run.projectId, base)))?.length
  }
  if (snapshot === undefined) return sets
  for (const set of sets) {
    for (const fault of await changeSetFaults(set, { snapshot, blobLength }))
      blame(`change set ${set.changeSetId}: ${fault}`)
  }
  return sets
}

async function verifySuspension(
  { projectId }: Run,
  { operationId, suspensionHash }: Operation,
  { objects, audit }: RecordDeps,
): Promise<void> {
  if (suspensionHash === null) return
  const reading = getUnfinishedAttempt(objects, projectId, suspensionHash)
  const kept = await audit.read(`operation ${operationId}, what it goes on from`, suspensionHash, reading)
  if (kept !== undefined && kept.operationId !== operationId)
    audit.blame(`operation ${operationId}: what it goes on from is of operation ${kept.operationId}`)
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
  for (const set of sets) compare('maker of its change set', set.operationId, originalId(operation))
  const paths = new Set(sets.flatMap(({ files }) => files.map((file) => file.path)))
  compare('list of changed files', [...paths].toSorted(), outcome.changedFiles.toSorted())
  return faults
}

/** Reads a run's objects and collects the violations in them (invariant 7). */
type DecisionDeps = { ledger: Pick<Ledger, 'readEvents'>; objects: ObjectStore; audit: ObjectAudit }

const pageEvents = 1_000

/** Checks that all is kept of what was said when a model decided about the run. */
export async function verifyDecisions(run: Run, { ledger, objects, audit }: DecisionDeps): Promise<void> {
  const { projectId, runId, seq: last, request } = run
  if (request.objective === undefined) return
  for (let after = 0; after < last; after += pageEvents) {
    for (const { seq, data } of await ledger.readEvents(runId, { after, limit: pageEvents })) {
      if (!('schema_hash' in data && 'record_hash' in data)) continue // of what is asked about a run no record is kept
      const hash = String(data['record_hash'])
      await audit.read(`the decision of event ${seq}`, hash, getDecisionRecord(objects, { projectId, runId, hash }))
    }
  }
}

export type ObjectAudit = ReturnType<typeof openObjectAudit>

export function openObjectAudit() {
  const violations: Violation[] = []
  const noted = new Set<string>()
  const blame = (message: string) => void violations.push({ invariant: 7, message })
  return {
    violations,
    blame,
    /** Undefined for an object that is missing or does not match its name, a violation. Errors of an unreachable store are thrown. */
    async read<T>(what: string, hash: string, reading: Promise<T>): Promise<T | undefined> {
      try {
        return await reading
      } catch (error) {
        if (!hasCode(error, 'STORE_003')) throw error
        if (!noted.has(hash)) blame(`${what}: ${error.message}`)
        noted.add(hash)
        return undefined
      }
    },
  }
}

type ChangeSetBase = {
  snapshot: Pick<SnapshotView, 'find'>
  /** The length of a blob whose content has its hash; undefined when there is none, which is a violation of its own. */
  blobLength(hash: string): Promise<number | undefined>
}

/** Lists what is wrong with a change set. One that is built on others may put an executable bit back that these have changed. */
export async function changeSetFaults(set: ChangeSet, base: ChangeSetBase): Promise<string[]> {
  const faults: string[] = []
  const { changeSetId: id, operationId, files, builtOn } = set
  if (id !== changeSetId(operationId, files, builtOn)) faults.push('its id is not that of its changes')
  const paths = set.files.map((file) => file.path)
  for (const path of paths.filter((repeated, at) => paths.indexOf(repeated) !== at))
    faults.push(`it changes ${path} twice`)
  for (const file of set.files) faults.push(...(await fileFaults(file, base, set)))
  return faults
}

async function fileFaults(
  file: FileChange,
  { snapshot, blobLength }: ChangeSetBase,
  { builtOn }: Pick<ChangeSet, 'builtOn'>,
): Promise<string[]> {
  const held = snapshot.find(file.path)
  switch (file.kind) {
    case 'create':
      return held === undefined ? [] : [`it creates ${file.path}, which the snapshot has`]
    case 'edit':
    case 'delete': {
      if (held === undefined) return [`it changes ${file.path}, which the snapshot does not have`]
      if (held.hash !== file.baseHash) {
        return [`its base of ${file.path} is ${file.baseHash}, the snapshot has ${held.hash}`]
      }
      const isBitOfBase = file.executable === held.executable
      const putsBitBack = file.kind === 'edit' && builtOn !== undefined
      if (file.executable !== undefined && isBitOfBase !== (file.kind === 'delete') && !putsBitBack) {
        return [`its executable bit of ${file.path} is not that of the snapshot`]
      }
      const length = await blobLength(file.baseHash)
      if (file.kind === 'delete' || length === undefined) return []
      return isInOrder(file.edits, length)
        ? []
        : [`its edits of ${file.path} are not sorted and inside ${length} bytes`]
    }
    default:
      return unreachable(file)
  }
}

/** Is true when the edits are sorted, disjoint and inside the base, with no two insertions at one point. */
function isInOrder(edits: readonly Edit[], length: number): boolean {
  let [at, lastWasInsertion] = [0, false]
  for (const { start, end } of edits) {
    const isInsertion = start === end
    const isFree = start > at || (start === at && !(isInsertion && lastWasInsertion))
    if (!isFree || end < start || end > length) return false
    ;[at, lastWasInsertion] = [end, isInsertion]
  }
  return true
}
