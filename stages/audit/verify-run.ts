import type { ProjectId, RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Verification } from '#store/ledger/verify.ts'
import type { Violation } from '#store/ledger/accounts.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { readSnapshot } from '#store/objects/snapshot.ts'
import { delay } from '#platform/clock.ts'
import { operationJobId, type QueueName } from '#store/queues/catalog.ts'
import type { Producer } from '#store/queues/producer.ts'
import { verifyCompositions } from './verify-composition.ts'
import { type ObjectAudit, openObjectAudit, verifyDecisions, verifyRecords } from './verify-records.ts'
import { operationPages } from '#store/ledger/read-operations.ts'

/** Says with `ended` whether the run had ended before the verification began. */
export type RunVerification = Verification & { ended: boolean }

export type ProofDeps = ObjectProofDeps & LeftDeps & { ledger: Pick<Ledger, 'getRun' | 'verify'> }

/** Checks every invariant of a run (an ended one's leftovers, too), and changes nothing. STORE_001 and STORE_002 without a store. */
export async function verifyRun(runId: RunId, deps: ProofDeps): Promise<RunVerification> {
  const run = await deps.ledger.getRun(runId)
  const { violations, ...counted } = await deps.ledger.verify(runId)
  const objects = await verifyObjects(run, deps)
  const ended = isEnded(run.status)
  const left = ended ? await whatIsLeft(run, deps) : []
  return { ended, violations: [...violations, ...objects, ...left], ...counted }
}

type ObjectProofDeps = {
  ledger: Pick<Ledger, 'getRun' | 'listOperations' | 'readDecisions' | 'readEvents'>
  objects: ObjectStore
}

/** Base blobs are read once for each change set that is made on them; most runs touch few files often. */
const maxCacheBytes = 32 * 1024 * 1024

/** Checks invariant 7: everything that the run refers to is there and matches its name. Each object is read once. */
async function verifyObjects(run: Run, { ledger, objects }: ObjectProofDeps): Promise<readonly Violation[]> {
  const audit = openObjectAudit()
  const { projectId, snapshotId } = run
  const blobs = openBlobStore(objects, { maxCacheBytes })
  const snapshot = snapshotId === null ? undefined : await verifySnapshot(projectId, snapshotId, objects, audit)
  const deps = { ledger, objects, blobs, snapshot, audit }
  const { byChangeSet } = await ledger.readDecisions(run.runId)
  const decided = new Set(byChangeSet.keys())
  const { sets, replaced, madeIn } = await verifyRecords(run, deps)
  for (const { changeSetId, verdict } of byChangeSet.values()) {
    const needed = verdict === 'accepted' ? (sets.get(changeSetId)?.builtOn ?? []) : []
    const missing = needed.filter((id) => byChangeSet.get(id)?.verdict !== 'accepted')
    if (missing.length > 0)
      audit.blame(`${changeSetId} is accepted without ${missing.join(', ')}, which it is built on`)
  }
  await verifyDecisions(run, deps)
  await verifyCompositions(run, { objects, blobs, snapshot, sets, madeIn, decided, replaced, audit })
  return audit.violations
}

const lookups = 32

/** Checks that every file's blob exists; those of changed files are read with the change sets. Undefined without a snapshot. */
async function verifySnapshot(projectId: ProjectId, snapshotId: string, objects: ObjectStore, audit: ObjectAudit) {
  const view = await audit.read(`snapshot ${snapshotId}`, snapshotId, readSnapshot(objects, projectId, snapshotId))
  if (view === undefined) return undefined
  const pathOf = new Map(view.files.map(({ hash, path }) => [hash, path]))
  await mapBounded([...pathOf], lookups, async ([hash, path]) => {
    const key = objectKeys.blob(projectId, hash)
    if (!(await objects.exists(key))) audit.blame(`the blob of ${path} in the snapshot: object ${key} is missing`)
  })
  return view
}

type LeftDeps = {
  ledger: Pick<Ledger, 'leftovers' | 'listOperations'>
  queues: Pick<Producer, 'missing'>
  /** The relay publishes the last results, and the last job completes, a moment after a run's end. */
  momentMs?: number
}

const defaultMomentMs = 2_000
const betweenLooksMs = 50

/** Checks invariant 8, of what the ledger and the queues still hold; processes and files are not looked at. */
async function whatIsLeft(run: Run, deps: LeftDeps): Promise<Violation[]> {
  const [inLedger, jobs] = await Promise.all([lasting(() => deps.ledger.leftovers(run), deps), jobsLeft(run, deps)])
  const inQueues = jobs.map(({ queue, id }) => `the job ${id} in the queue ${queue}`)
  return [...inLedger, ...inQueues].map((what) => ({ invariant: 8, message: `the run has ended and left ${what}` }))
}

type NamedJob = { queue: QueueName; id: string }

async function jobsLeft(run: Run, deps: LeftDeps): Promise<NamedJob[]> {
  let jobs: NamedJob[] = []
  for await (const page of jobNames(run, deps)) jobs.push(...(await present(page, deps)))
  return lasting(async () => (jobs = await present(jobs, deps)), deps)
}

async function* jobNames({ runId }: Run, { ledger }: LeftDeps): AsyncGenerator<NamedJob[]> {
  yield (['snapshots', 'discoveries', 'setups', 'compositions', 'conductor'] as const).map((queue) => ({
    queue,
    id: runId,
  }))
  for await (const operations of operationPages(ledger, runId)) {
    yield operations.flatMap(({ operationId, dispatch }) =>
      Array.from({ length: dispatch }, (_, before) => {
        const id = operationJobId({ runId, operationId, dispatch: before + 1 })
        return { queue: 'operations' as const, id }
      }),
    )
  }
}

async function present(jobs: readonly NamedJob[], { queues }: LeftDeps): Promise<NamedJob[]> {
  const left: NamedJob[] = []
  for (const [queue, named] of Map.groupBy(jobs, (job) => job.queue)) {
    const ids = named.map((job) => job.id)
    const missing = new Set(await queues.missing(queue, ids))
    left.push(...ids.filter((id) => !missing.has(id)).map((id) => ({ queue, id })))
  }
  return left
}

async function lasting<T>(look: () => Promise<T[]>, { momentMs = defaultMomentMs }: LeftDeps): Promise<T[]> {
  const deadline = performance.now() + momentMs
  for (;;) {
    const left = await look()
    if (left.length === 0 || performance.now() > deadline) return left
    await delay(betweenLooksMs)
  }
}
