import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import { newRunId, type RunId } from '#domain/ids.ts'
import { modelLabel, type ModelKind } from '#domain/model-kind.ts'
import type { Run, RunRequest } from '#domain/run.ts'
import type { NewRun } from '#ledger/create-run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { BlobStore } from '#objects/blob-store.ts'
import { putNodeSelection } from '#objects/node-selection.ts'
import { objectKeys } from '#objects/object-keys.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import type { IdempotencyRecord, IdempotencyStore } from './idempotency.ts'
import { drain, sniffed } from './read-archive.ts'
import { parseRunRequest } from './run-request.ts'

export type Intake = {
  archive: AsyncIterable<Uint8Array>
  /** The request as it came, not yet checked. */
  request: unknown
  projectId: string
  idempotencyKey: string | undefined
  correlation: { requestId: string; traceparent: string | null }
}

export type AcceptDeps = {
  agents: readonly string[]
  maxUploadBytes: number
  /** Noted on every run; undefined: nothing is. */
  modelKind?: ModelKind | undefined
  objects: Pick<ObjectStore, 'putStream' | 'delete'>
  blobs: Pick<BlobStore, 'put'>
  ledger: Pick<Ledger, 'createRun' | 'getRun'>
  producer: {
    add(queue: 'snapshots', id: string, payload: { run_id: RunId; traceparent: string | null }): Promise<unknown>
  }
  idempotency: IdempotencyStore
}

/**
 * Takes a run in: the archive flows into the object store, then the run exists, then its job, so a crash in between
 * leaves at most an unreferenced object or a run without a job. With an idempotency key the first body decides which run
 * the key stands for: the same body gets that run again (and finishes what a crash left undone), another INTAKE_005.
 * Throws INTAKE_001 (no archive), _003 (too large), _006, _007, _008 (the request).
 */
export async function acceptRun(intake: Intake, deps: AcceptDeps): Promise<{ runId: RunId; status: 'queued' }> {
  const request = withModelKind(await readRequest(intake, deps), deps.modelKind)
  const ownRunId = newRunId(Date.now())
  const { runId, archiveHash } = await takeArchive(intake, { request, runId: ownRunId }, deps)
  const earlier = runId === ownRunId ? undefined : await findRun(runId, deps)
  const run = describeRun(intake, request, { runId, archiveHash })
  if (earlier === undefined) await deps.ledger.createRun(run)
  if (earlier === undefined || earlier.status === 'queued') await enqueue(run, deps)
  return { runId, status: 'queued' }
}

/** The request as the ledger keeps it: the nodes that the run is limited to are stored as a blob. */
async function readRequest({ request: body, projectId }: Intake, deps: AcceptDeps): Promise<RunRequest> {
  const { request, nodes } = parseRunRequest(body, deps.agents)
  if (nodes === undefined) return request
  const hash = await putNodeSelection(deps.blobs, projectId, nodes)
  return { ...request, nodes: { hash, count: new Set(nodes).size } }
}

/** What the run is answered by is ours to say: a label of that name in the request does not count. */
export function withModelKind(request: RunRequest, kind: ModelKind | undefined): RunRequest {
  return kind === undefined ? request : { ...request, labels: { ...request.labels, [modelLabel]: kind } }
}

type Proposal = { request: RunRequest; runId: RunId }
type Taken = { runId: RunId; archiveHash: string }

/** Answers the run the archive belongs to: the proposed one, or the one its idempotency key already stands for. */
async function takeArchive(intake: Intake, proposal: Proposal, deps: AcceptDeps): Promise<Taken> {
  const { projectId, idempotencyKey: key } = intake
  const archive = await sniffed(intake.archive)
  const earlier = key === undefined ? undefined : await deps.idempotency.find(projectId, key)
  if (earlier !== undefined) {
    await drain(archive.content, deps.maxUploadBytes)
    return sameBody(earlier, recordOf(proposal, archive.digest()), archive.digest())
  }
  const upload = objectKeys.upload(projectId, proposal.runId)
  const limits = { maxBytes: deps.maxUploadBytes, contentType: 'application/octet-stream' }
  await deps.objects.putStream(upload, archive.content, limits)
  const record = recordOf(proposal, archive.digest())
  if (key === undefined) return { runId: proposal.runId, archiveHash: archive.digest() }
  const holder = await deps.idempotency.claim(projectId, key, record)
  if (!('runId' in holder) || holder.runId !== proposal.runId) await deps.objects.delete(upload)
  return sameBody(holder, record, archive.digest())
}

function recordOf(proposal: Proposal, archiveHash: string) {
  return { runId: proposal.runId, bodyHash: sha256(`${JSON.stringify(proposal.request)}\0${archiveHash}`) }
}

function sameBody(holder: IdempotencyRecord, own: { bodyHash: string }, archiveHash: string): Taken {
  if ('runId' in holder && holder.bodyHash === own.bodyHash) return { runId: holder.runId, archiveHash }
  throw new AppError('INTAKE_005', 'This Idempotency-Key came before with another request or archive.')
}

function describeRun(intake: Intake, request: RunRequest, { runId, archiveHash }: Taken): NewRun {
  const { projectId, correlation } = intake
  return {
    runId,
    projectId,
    request,
    uploadKey: objectKeys.upload(projectId, runId),
    traceparent: correlation.traceparent,
    acceptedEvent: {
      event: 'run.accepted',
      phase: 'snapshot',
      origin: { kind: 'api', id: correlation.requestId },
      data: { agents: request.agents, archive_sha256: archiveHash },
    },
  }
}

async function enqueue(run: NewRun, deps: AcceptDeps): Promise<void> {
  const { runId, traceparent } = run
  await deps.producer.add('snapshots', runId, { run_id: runId, traceparent })
}

async function findRun(runId: RunId, deps: AcceptDeps): Promise<Run | undefined> {
  try {
    return await deps.ledger.getRun(runId)
  } catch (error) {
    if (error instanceof AppError && error.code === 'RUN_001') return undefined
    throw error
  }
}
