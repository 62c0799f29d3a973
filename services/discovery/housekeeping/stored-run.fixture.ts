import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { packTar } from 'modern-tar'
import type { ChangeSet } from '#domain/change-set.ts'
import { changeSetId, newToken, type ProjectId, type RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { RunRequest } from '#domain/run.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import { openLedger, type Ledger } from '#store/ledger/ledger.ts'
import { openPutPermit } from '#store/ledger/collection-window.ts'
import { openRetention, type Retention } from '#store/ledger/retention.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import type { Composition } from '#store/objects/composition.ts'
import { putEdgeList } from '#store/objects/edge-list.ts'
import { putNotSentFiles } from '#store/objects/not-sent-files.ts'
import { putNodeList } from '#store/objects/node-list.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { type ObjectStore, permittedPuts, putHashedJson, type PutPermit } from '#store/objects/object-store.ts'
import { putPart } from '#store/objects/patch-part.ts'
import { putAttemptRecord, putComposition } from '#store/objects/stored-records.ts'
import {
  aCost,
  anEvent,
  aNewRun,
  anOutcome,
  aPlannedOperation,
  aRequest,
  testLedger,
} from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { nodeIndexCache } from '../discovery-stage.ts'
import { defaultSnapshotLimits } from '#stages/snapshot/snapshot-limits.ts'
import { takeSnapshot } from '#stages/snapshot/take-snapshot.ts'

export type TestStores = {
  ledger: Ledger
  retention: Retention
  objects: ObjectStore
  /** As another process of the services sees them: its puts keep out of the collection's windows. */
  otherProcess(): ObjectStore
  /** What such a process puts under. */
  permit(): PutPermit
  /** All keys of the ledger in Redis with their values as text. */
  redisValues(): Promise<Map<string, string>>
  project: ProjectId
  /** From now on every existing object counts as put two days ago, until it is put again. */
  age(): Promise<void>
  /** Keys of the project's objects, without `projects/<project>/`. */
  keys(): Promise<string[]>
  close(): Promise<void>
}

const twoDaysMs = 2 * 86_400_000

/** Real stores, except that the time of the last put is simulated. */
export async function openTestStores(): Promise<TestStores> {
  const redis = await testLedger()
  const s3 = await testObjects()
  const { project } = s3
  const aged = new Set<string>()
  const shown = <T extends { key: string; lastModified: number }>(object: T): T => ({
    ...object,
    lastModified: object.lastModified - (aged.has(object.key) ? twoDaysMs : 0),
  })
  const objects: ObjectStore = {
    ...s3.objects,
    async put(key, body, options) {
      await s3.objects.put(key, body, options)
      aged.delete(key)
    },
    async *list(prefix, signal) {
      for await (const object of s3.objects.list(prefix, signal)) yield shown(object)
    },
    async stat(key) {
      const object = await s3.objects.stat(key)
      return object && shown(object)
    },
  }
  const permit = () => openPutPermit(redis.redis, redis.namespace, 300)
  const all = async () => Array.fromAsync(s3.objects.list(`projects/${project}/`))
  return {
    ledger: openLedger(redis.redis, { namespace: redis.namespace }),
    retention: openRetention(redis.redis, redis.namespace),
    objects,
    otherProcess: () => permittedPuts(objects, permit()),
    permit,
    redisValues: () => redisValues(redis.redis, redis.namespace),
    project,
    age: async () => (await all()).forEach(({ key }) => aged.add(key)),
    keys: async () => (await all()).map(({ key }) => key.slice(`projects/${project}/`.length)),
    async close() {
      await s3.close()
      await redis.close()
    },
  }
}

async function redisValues(redis: Redis, namespace: string): Promise<Map<string, string>> {
  const read: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrange(key, '0', '-1'),
    list: (key) => redis.lrange(key, 0, -1),
    stream: (key) => redis.xrange(key, '-', '+'),
  }
  const keys = await redis.keys(`*${namespace}*`)
  const values = keys.map(async (key) => [key, JSON.stringify(await read[await redis.type(key)]?.(key))] as const)
  return new Map(await Promise.all(values))
}

export type StoredRun = { runId: RunId; projectId: ProjectId; uploadKey: string; snapshotId: string }

/** A run that was taken in: an upload and a run in the ledger. */
export async function acceptRun(
  { ledger, objects, project }: TestStores,
  files: Readonly<Record<string, string>>,
  request: Partial<RunRequest> = {},
): Promise<Omit<StoredRun, 'snapshotId'>> {
  const runId = aNewRun().runId
  const uploadKey = objectKeys.upload(project, runId)
  await objects.put(uploadKey, await tarOf(files))
  await ledger.createRun(aNewRun({ runId, projectId: project, uploadKey, request: aRequest(request) }))
  return { runId, projectId: project, uploadKey }
}

/** Takes the snapshot of an accepted run with the real stage's parts, and refers to it. */
export async function snapshotRun(
  run: Omit<StoredRun, 'snapshotId'>,
  ledger: Ledger,
  objects: ObjectStore,
): Promise<StoredRun> {
  const deps = { objects, blobs: openBlobStore(objects, { maxCacheBytes: 0 }), limits: defaultSnapshotLimits }
  const { snapshotId } = await takeSnapshot(run, deps, AbortSignal.timeout(30_000))
  await ledger.move(run.runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'planning' },
    command: 'snapshot',
    set: { snapshotId },
    events: [anEvent({ event: 'run.started', phase: 'snapshot' })],
  })
  return { ...run, snapshotId }
}

/** A whole run over `files`, with an object of every kind, stored by the services' own functions. */
export async function storeRun(stores: TestStores, files: Readonly<Record<string, string>>): Promise<StoredRun> {
  const { ledger, objects, project } = stores
  const own = randomBytes(8).toString('hex')
  const blobs = openBlobStore(objects, { maxCacheBytes: 0 })
  const notSent = { hash: await putNotSentFiles(blobs, project, [{ path: '.env', reason: own }]), count: 1 }
  const run = await snapshotRun(await acceptRun(stores, files, { notSent }), ledger, objects)
  const { runId } = run
  const blob = await blobs.put(project, Buffer.from(`composed ${own}`))
  await nodeIndexCache(objects, project).put(
    { hash: blob, pack: undefined, size: 0, paths: [], admitted: [] },
    JSON.stringify({ skipped: own }),
  )
  const bundleHash = await putHashedJson(objects, (hash) => objectKeys.bundle(project, hash), { own })
  const operation = aPlannedOperation('greet', { bundleHash })
  const nodeListKey = await putNodeList(objects, run, { nodes: [operation.node], skipped: [] })
  const edgeListKey = await putEdgeList(objects, run, { nodes: [operation.node], edges: [] })
  await ledger.plan(runId, { slice: 0, operations: [operation], last: true })
  await ledger.move(runId, {
    from: [{ status: 'running' }],
    to: { phase: 'execution' },
    command: 'planned',
    set: { nodeListKey, edgeListKey, nodes: 1 },
    events: [anEvent({ event: 'run.planned', phase: 'planning' })],
  })
  await settle(runId, operation, stores)
  await objects.put(objectKeys.eventSegment(project, runId, { first: 1, last: 2 }), '{}\n')
  const composed = { path: 'a.py', baseHash: null, resultHash: blob, changeSetIds: [], evidence: [] }
  const composition: Composition = { v: 1, runId, of: 'proposed', files: [composed], conflicts: [] }
  const compositionKey = await putComposition(objects, { projectId: project, runId: composition.runId }, composition)
  await ledger.move(runId, {
    from: [{ status: 'running' }],
    to: { status: 'completed' },
    command: 'complete',
    set: { compositionKey },
    events: [anEvent({ event: 'run.completed', phase: 'review' })],
  })
  const part = await putPart(objects, run, { changeSetIds: [own] })
  const resultHash = await blobs.put(project, Buffer.from(`composed of a part ${own}`))
  const partly: Composition = { ...composition, of: 'accepted', part, files: [{ ...composed, resultHash }] }
  const ofPart = await putComposition(objects, { projectId: project, runId: partly.runId }, partly)
  await ledger.notePart(runId, { part, decided: 0, compositionKey: ofPart })
  return run
}

/** A run whose only operation waits for a person; returns the key of the record that the operation resumes from. */
export async function waitingRun(stores: TestStores): Promise<string> {
  const { ledger, objects, project } = stores
  const run = await snapshotRun(await acceptRun(stores, { 'a.py': 'x = 1\n' }), ledger, objects)
  const operation = aPlannedOperation('greet')
  await ledger.plan(run.runId, { slice: 0, operations: [operation], last: true })
  await ledger.move(run.runId, {
    from: [{ status: 'running' }],
    to: { phase: 'execution' },
    command: 'planned',
    events: [anEvent({ event: 'run.planned', phase: 'planning' })],
  })
  const attempt = await claimed(run.runId, operation, ledger)
  const recordHash = await putHashedJson(objects, (hash) => objectKeys.attempt(project, hash), { of: run.runId })
  const question = { text: 'Which?', choices: null }
  await ledger.suspend(attempt, 1, { question, answerWithinMs: 60_000, recordHash, spent: aCost, events: [] })
  return objectKeys.attempt(project, recordHash)
}

async function claimed(runId: RunId, { operationId }: PlannedOperation, ledger: Ledger): Promise<Attempt> {
  const { taken } = await ledger.dispatch(runId, 1)
  const answer = await ledger.claim({ runId, operationId, dispatch: taken[0]?.dispatch ?? 0 }, newToken())
  if (answer.kind !== 'claimed') throw new Error(`the operation is ${answer.kind}`)
  return answer.attempt
}

async function settle(runId: RunId, operation: PlannedOperation, { ledger, objects, project }: TestStores) {
  const { operationId, bundle, bundleHash, node } = operation
  const attempt = await claimed(runId, operation, ledger)
  const files: ChangeSet['files'] = [{ kind: 'create', path: 'new.py', content: 'x = 1\n' }]
  const setId = changeSetId(operationId, files)
  const changeSet: ChangeSet = { changeSetId: setId, operationId, bundle, nodeId: node.nodeId, files, evidence: [] }
  const outcome = anOutcome({ changeSetId: setId, changedFiles: ['new.py'] })
  const recordHash = await putAttemptRecord(objects, project, {
    ...emptyRecord,
    runId,
    operationId,
    bundle,
    bundleHash,
    changeSet,
    outcome,
  })
  await ledger.settle(attempt, 1, { outcome: { ...outcome, recordHash }, events: [] })
}

const emptyRecord = {
  v: 1 as const,
  attempt: 1,
  model: 'none',
  versions: {},
  startedAt: 0,
  messages: [],
  replies: [],
  exchanges: [],
  tools: [],
  reads: { contents: {}, listings: {}, absences: [] },
}

async function tarOf(files: Readonly<Record<string, string>>): Promise<Uint8Array> {
  const entries = Object.entries(files).map(([name, body]) => ({
    header: { name, size: Buffer.byteLength(body) },
    body,
  }))
  return packTar(entries)
}
