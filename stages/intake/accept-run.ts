import { createHash } from 'node:crypto'
import { AppError, undefinedOn } from '#domain/error.ts'
import { newRunId, type RunId, sha256 } from '#domain/ids.ts'
import { type ModelKind, withModelKind } from '#domain/model-kind.ts'
import { fullNameOf } from '#domain/repository-source.ts'
import type { RunRequest } from '#domain/run.ts'
import type { NewRun } from '#store/ledger/run-commands.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import { putNotSentFiles } from '#store/objects/not-sent-files.ts'
import { putNodeSelection } from '#store/objects/node-selection.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { describeForeign, sniffArchive, sniffBytes } from '#domain/archive-format.ts'
import type { IdempotencyRecord, IdempotencyStore } from './idempotency.ts'
import type { RepositoryRun } from './repository-run.ts'
import type { RunForm } from './run-form.ts'
import { parseRunRequest } from './run-request.ts'

/** Ties the log, the events and the trace of a run to the request that began it. */
export type Correlation = { requestId: string; traceparent: string }

/** Its code is in an archive that arrives with it, or is fetched from a repository. */
export type Intake = (RunForm | RepositoryRun) & {
  projectId: string
  idempotencyKey: string | undefined
  correlation: Correlation
  holder?: NewRun['holder']
}

export type AcceptDeps = {
  agents: readonly string[]
  /** AGENT_001 when the bundle of one of its agents cannot be used, INTAKE_008 for a node kind that no query pack finds. */
  checkFindable(request: Pick<RunRequest, 'agents' | 'nodeKinds'>): Promise<void>
  maxUploadBytes: number
  /** Is true when runs may have a setup here. */
  allowsSetups: boolean
  /** Every run is labelled with it, if given. */
  modelKind?: ModelKind | undefined
  objects: Pick<ObjectStore, 'putStream' | 'delete' | 'exists'>
  blobs: Pick<BlobStore, 'put'>
  ledger: Pick<Ledger, 'createRun' | 'expectRunRoom' | 'getRun' | 'isBeingDeleted'>
  producer: {
    add(queue: 'snapshots', id: string, payload: { run_id: RunId; traceparent: string | null }): Promise<unknown>
  }
  idempotency: IdempotencyStore
}

/**
 * Stores the archive, if there is one, then creates the run, then its job: a crash leaves at most an unreferenced object or a run without a
 * job. With an idempotency key the first body decides which run the key
 * stands for. INTAKE_001 (no archive), _003 (too large), _005 (another body), _006, _007, _008 (the request), AGENT_001, LIMIT_003.
 */
export async function acceptRun(intake: Intake, deps: AcceptDeps): Promise<{ runId: RunId; status: 'queued' }> {
  const ownRunId = newRunId(Date.now())
  const taken =
    'repository' in intake ? await takeRepository(intake, ownRunId, deps) : await takeForm(intake, ownRunId, deps)
  const { runId } = taken
  const earlier = runId === ownRunId ? undefined : await deps.ledger.getRun(runId).catch(undefinedOn('RUN_001'))
  const run = describeRun(intake, taken)
  if (earlier === undefined) {
    if (runId !== ownRunId) await expectUpload(run, deps)
    await deps.ledger.createRun(run)
    // Again, now that the run refers to it: the first time nothing kept a deletion of another run from it.
    await taken.storeLists()
  }
  if (earlier === undefined || earlier.status === 'queued') {
    await deps.producer.add('snapshots', runId, { run_id: runId, traceparent: run.traceparent })
  }
  return { runId, status: 'queued' }
}

/** `archiveHash`: empty where there is no archive. */
type Taken = { runId: RunId; archiveHash: string } & ReadRequest

/** `storeLists` stores again what the request refers to by hashes. */
type ReadRequest = { request: RunRequest; storeLists(): Promise<unknown> }

/** Checks a request that comes first before anything is stored; where it comes after the archive and is refused, the upload is deleted. */
async function takeForm(intake: Intake & RunForm, ownRunId: RunId, deps: AcceptDeps): Promise<Taken> {
  const { projectId, idempotencyKey: key } = intake
  const early = intake.request === undefined ? undefined : await readRequest(intake.request, projectId, deps)
  const requestOf = async () => {
    const body = await intake.wholeRequest()
    return early ?? readRequest(body, projectId, deps)
  }
  const archive = await sniffed(intake.archive)
  const earlier = key === undefined ? undefined : await deps.idempotency.find(projectId, key)
  if (earlier !== undefined) {
    await drain(archive.content, deps.maxUploadBytes)
    return sameBody(earlier, { runId: ownRunId, ...(await requestOf()), archiveHash: archive.digest() })
  }
  if (intake.holder !== undefined) await deps.ledger.expectRunRoom(intake.holder)
  const upload = objectKeys.upload(projectId, ownRunId)
  const limits = { maxBytes: deps.maxUploadBytes, contentType: 'application/octet-stream' }
  await deps.objects.putStream(upload, archive.content, limits)
  const read = await requestOf().catch(async (error: unknown) => {
    await deps.objects.delete(upload).catch(() => {}) // housekeeping deletes what is left
    throw error
  })
  const own = { runId: ownRunId, ...read, archiveHash: archive.digest() }
  if (key === undefined) return own
  const holder = await deps.idempotency.claim(projectId, key, recordOf(own))
  if (!('runId' in holder) || holder.runId !== ownRunId) await deps.objects.delete(upload)
  return sameBody(holder, own)
}

/** Stores nothing of the code: discovery fetches it. */
async function takeRepository(intake: Intake & RepositoryRun, ownRunId: RunId, deps: AcceptDeps): Promise<Taken> {
  const { projectId, idempotencyKey: key, repository, holder } = intake
  const { request, storeLists } = await readRequest(intake.request, projectId, deps, 'body')
  const own = { runId: ownRunId, request: { ...request, repository }, storeLists, archiveHash: '' }
  const earlier = key === undefined ? undefined : await deps.idempotency.find(projectId, key)
  if (earlier !== undefined) return sameBody(earlier, own)
  if (holder !== undefined) await deps.ledger.expectRunRoom(holder)
  return key === undefined ? own : sameBody(await deps.idempotency.claim(projectId, key, recordOf(own)), own)
}

/** Returns the request as the ledger keeps it: its long lists are stored as blobs. */
async function readRequest(
  body: unknown,
  projectId: string,
  deps: AcceptDeps,
  part: 'request' | 'body' = 'request',
): Promise<ReadRequest> {
  const { request, nodes, notSent } = parseRunRequest(body, deps.agents, part)
  if (request.setup !== undefined && !deps.allowsSetups) {
    const text = 'setups are off in this service; its operator may allow them (REMORA_SETUP=on)'
    throw new AppError('SETUP_002', text, { advised: true })
  }
  await deps.checkFindable(request)
  const { blobs } = deps
  const storeLists = async () => ({
    ...(nodes && { nodes: { hash: await putNodeSelection(blobs, projectId, nodes), count: new Set(nodes).size } }),
    ...(notSent && { notSent: { hash: await putNotSentFiles(blobs, projectId, notSent), count: notSent.length } }),
  })
  return { request: { ...withModelKind(request, deps.modelKind), ...(await storeLists()) }, storeLists }
}

/** INTAKE_005 when the run of an idempotency key was deleted, or is being deleted: it would have to be made again, without its upload. */
async function expectUpload(run: NewRun, { objects, ledger }: AcceptDeps): Promise<void> {
  const isGone =
    (await ledger.isBeingDeleted(run)) ||
    (run.request.repository === undefined && !(await objects.exists(run.uploadKey)))
  if (!isGone) return
  throw new AppError('INTAKE_005', 'The run of this Idempotency-Key was deleted: use another key for a new one.')
}

function recordOf({ runId, request, archiveHash }: Taken) {
  return { runId, bodyHash: sha256(`${JSON.stringify(request)}\0${archiveHash}`) }
}

function sameBody(holder: IdempotencyRecord, own: Taken): Taken {
  if ('runId' in holder && holder.bodyHash === recordOf(own).bodyHash) return { ...own, runId: holder.runId }
  throw new AppError('INTAKE_005', 'This Idempotency-Key was used before with another request or archive.')
}

function describeRun({ projectId, correlation, holder }: Intake, { runId, request, archiveHash }: Taken): NewRun {
  return {
    runId,
    projectId,
    request,
    uploadKey: objectKeys.upload(projectId, runId),
    traceparent: correlation.traceparent,
    holder,
    acceptedEvent: {
      event: 'run.accepted',
      phase: 'snapshot',
      origin: { kind: 'api', id: correlation.requestId },
      data: { agents: request.agents, objective: request.objective, ...codeOf(request, archiveHash) },
    },
  }
}

function codeOf({ repository }: RunRequest, archiveHash: string) {
  if (repository === undefined) return { archive_sha256: archiveHash }
  return { repository: fullNameOf(repository.repository), ref: repository.ref }
}

/** `content` can be read once. `digest` is the hex SHA-256 of what was read so far. */
type SniffedArchive = { content: AsyncIterable<Uint8Array>; digest(): string }

/** Reads the first bytes and refuses anything but an archive (INTAKE_001) before anything of it is stored. */
export async function sniffed(archive: AsyncIterable<Uint8Array>): Promise<SniffedArchive> {
  const chunks = archive[Symbol.asyncIterator]()
  const head = await readHead(chunks)
  if (sniffArchive(head) === undefined) {
    await chunks.return?.()
    throw new AppError('INTAKE_001', `The archive ${describeForeign(head)}.`)
  }
  const hash = createHash('sha256')
  async function* content(): AsyncIterable<Uint8Array> {
    try {
      hash.update(head)
      yield head
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
        hash.update(next.value)
        yield next.value
      }
    } finally {
      await chunks.return?.()
    }
  }
  return { content: content(), digest: () => hash.copy().digest('hex') }
}

async function readHead(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const head: Uint8Array[] = []
  for (let bytes = 0; bytes < sniffBytes;) {
    const next = await chunks.next()
    if (next.done === true) break
    head.push(next.value)
    bytes += next.value.length
  }
  return Buffer.concat(head)
}

/** Reads an archive to its end and drops it: a repeated upload is only compared. INTAKE_003 over `maxBytes`. */
export async function drain(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
  let bytes = 0
  for await (const chunk of content) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new AppError('INTAKE_003', `The archive is larger than ${maxBytes} bytes.`)
  }
}
