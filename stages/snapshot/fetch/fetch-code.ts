import type { ReadableArchive, ReadAccess } from '#code-hosts/read-access.ts'
import { AppError, undefinedOn } from '#domain/error.ts'
import { newToken } from '#domain/ids.ts'
import type { CommitId, RepositorySource } from '#domain/repository-source.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { findBaseList, type BaseRunDeps } from '../base-nodes.ts'
import { type SnapshotDeps, takeSnapshot } from '../take-snapshot.ts'
import type { CodeHostClient } from './code-host-client.ts'

export type FetchCodeDeps = SnapshotDeps &
  BaseRunDeps & {
    ledger: Pick<Ledger, 'getRun' | 'move'>
    codeHost: Pick<CodeHostClient, 'askReadAccess' | 'readArchive'>
    /** Limits an archive as it is packed; larger ones are refused (INTAKE_003). */
    maxUploadBytes: number
  }

export type FetchedCode = { commit: CommitId; base: FetchedBase | undefined }
type FetchedBase = { commit: CommitId; snapshotId: string }

/**
 * Gets the archive of a run, and the snapshot of the commit that it is compared with, unless they are there. The commit is kept in the run
 * first, so that a repeated job reads the same one.
 */
export async function fetchCode(
  run: Run,
  source: RepositorySource,
  deps: FetchCodeDeps,
  signal: AbortSignal,
): Promise<FetchedCode> {
  const known = run.commit ?? source.commit
  const isThere = await deps.objects.exists(run.uploadKey)
  const needsBase = source.since?.commit !== undefined && (await findBaseList(run, deps)) === undefined
  if (isThere && known !== undefined && !needsBase) {
    await keepCommit(run, known, deps)
    return { commit: known, base: undefined }
  }
  const ask = { run_id: run.runId, ...(known === undefined ? {} : { commit: known }) }
  const access = await deps.codeHost.askReadAccess(ask, signal)
  const { commit } = access
  if (known !== undefined && commit !== known) {
    throw new AppError('HOST_004', `the publisher answered with commit ${commit} in place of ${known}`)
  }
  await keepCommit(run, commit, deps)
  if (!isThere) await storeArchive(access.archive, run.uploadKey, deps, signal)
  const base = needsBase ? await takeBase(run, access, deps, signal) : undefined
  return { commit, base }
}

/** HOST_001, so that the job comes again, when another job has kept another commit meanwhile. */
async function keepCommit({ runId }: Run, commit: CommitId, { ledger }: FetchCodeDeps): Promise<void> {
  const from = [{ status: 'running', phase: 'snapshot' }] as const
  const answer = await ledger.move(runId, { from, to: {}, command: 'commit', set: { commit }, events: [] })
  if (answer !== 'already' || (await ledger.getRun(runId)).commit === commit) return
  throw new AppError('HOST_001', 'the commit of the run was found twice, and not the same')
}

async function storeArchive(
  archive: ReadableArchive,
  key: string,
  { objects, codeHost, maxUploadBytes: maxBytes }: FetchCodeDeps,
  signal: AbortSignal,
): Promise<void> {
  const options = { maxBytes, contentType: 'application/octet-stream' }
  await objects.putStream(key, codeHost.readArchive(archive, signal), options)
}

const unusable = ['HOST_004', 'INTAKE_001', 'INTAKE_002', 'INTAKE_003'] as const

/** Undefined where the commit is gone, or its archive cannot be used: then all of the run's code is worked on. */
async function takeBase(
  { projectId, runId, request }: Run,
  { base }: ReadAccess,
  deps: FetchCodeDeps,
  signal: AbortSignal,
): Promise<FetchedBase | undefined> {
  if (base === null) return undefined
  const uploadKey = objectKeys.baseUpload(projectId, runId, newToken())
  try {
    await storeArchive(base.archive, uploadKey, deps, signal)
    const { snapshotId } = await takeSnapshot({ projectId, runId, uploadKey, request }, deps, signal)
    return { commit: base.commit, snapshotId }
  } catch (error) {
    return undefinedOn(...unusable)(error)
  } finally {
    await deps.objects.delete(uploadKey).catch(() => undefined) // housekeeping deletes what is left
  }
}
