import { AppError, isErrorCode, undefinedOn } from '#domain/error.ts'
import type { PatchNote } from '#domain/patch-note.ts'
import { isEnded, type PatchKind, type Run, type WantedPatch } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Composition } from '#store/objects/composition.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { partId, type PatchPart, putPart } from '#store/objects/patch-part.ts'
import { delay } from '#platform/clock.ts'

type PatchJob = WantedPatch & { run_id: string; traceparent: string | null }

export type AskPatchDeps = {
  ledger: Pick<Ledger, 'getRun' | 'readDecisions'>
  records: {
    /** Null while the run is not composed. `key`: of a patch that was composed later. */
    readComposition(run: Run, key?: string): Promise<Composition | null>
  }
  producer: { add(queue: 'patches', id: string, payload: PatchJob): Promise<unknown> }
}

/** A patch is `faulty` when there cannot be one as things are, or when the run has none (RUN_006 while it goes on, RUN_007). */
export type PatchAnswer =
  | { kind: 'there'; composition: Composition }
  | { kind: 'coming' }
  | { kind: 'faulty'; fault: AppError }

/** Limits the wait for a patch that is not there yet. */
export type Waiting = { waitMs: number; signal: AbortSignal }

/** Most patches are there by the first looks; later ones are further apart. */
const pollsMs = { least: 25, most: 500 }
/** So long a fault is believed: who asks later has the patch composed again. */
const faultMs = 60_000

/**
 * Says what there is of a patch as of the last decision. A worker composes one that is not there, which is waited for. Asking again while it
 * is `coming` is harmless, and necessary: a job may be lost.
 */
export async function askPatch(run: Run, of: PatchKind, deps: AskPatchDeps, waiting: Waiting): Promise<PatchAnswer> {
  const composed = await deps.records.readComposition(run)
  if (composed === null && of === 'proposed') return { kind: 'faulty', fault: withoutPatch(run) }
  // Until a reopened run has ended again, what was proposed last stays so.
  if (composed !== null && of === 'proposed' && !isEnded(run.status)) {
    const noted = await readNoted(run, { wanted: { of }, last: 0, isCurrent: () => true }, deps)
    return { kind: 'there', composition: noted ?? composed }
  }
  const { last } = await deps.ledger.readDecisions(run.runId)
  if (last === 0) return { kind: 'there', composition: (of === 'proposed' && composed) || nothingIn(run, of) }
  return lookOrAsk(run, { wanted: { of }, last, isCurrent: (decided) => decided >= last }, deps, waiting)
}

/** The same for these change sets, which must be accepted (else WORK_003), with what they are built on (WORK_002). Decisions on others change nothing in it. */
export async function askPart(
  run: Run,
  part: PatchPart,
  { objects, ...deps }: AskPatchDeps & { objects: Pick<ObjectStore, 'put'> },
  waiting: Waiting,
): Promise<PatchAnswer> {
  const { changeSetIds, carried = [] } = part
  if (changeSetIds.length + carried.length === 0) return { kind: 'there', composition: nothingIn(run, 'accepted') }
  const { last, byChangeSet } = await deps.ledger.readDecisions(run.runId)
  const isAccepted = changeSetIds.every((id) => byChangeSet.get(id)?.verdict === 'accepted')
  const asking: Asking = {
    wanted: { of: 'accepted', part: partId(part) },
    last,
    isCurrent: () => isAccepted,
    beforeJob: async () => void (await putPart(objects, run, part)),
  }
  return lookOrAsk(run, asking, deps, waiting)
}

function nothingIn({ runId }: Run, of: PatchKind): Composition {
  return { v: 1, runId, of, files: [], conflicts: [] }
}

type Asking = {
  wanted: WantedPatch
  /** Is the number of the last decision. */
  last: number
  /** Is true when a patch that was composed at the decision `decided` is what is asked for. */
  isCurrent(decided: number): boolean
  beforeJob?(): Promise<void>
}

async function lookOrAsk(
  run: Run,
  asking: Asking,
  deps: AskPatchDeps,
  { waitMs, signal }: Waiting,
): Promise<PatchAnswer> {
  const { wanted, last } = asking
  const former = faultIn(run, asking)
  if (former !== undefined && Date.now() - former.at < faultMs) return { kind: 'faulty', fault: faultOf(former) }
  const deadline = performance.now() + waitMs
  const noted = await readNoted(run, asking, deps)
  if (noted !== undefined) return { kind: 'there', composition: noted }
  await asking.beforeJob?.()
  const { runId: run_id, traceparent } = run
  const jobId = `${run_id}-${wanted.part ?? wanted.of}-${last}`
  await deps.producer.add('patches', jobId, { run_id, traceparent, ...wanted })
  for (let pollMs = pollsMs.least; performance.now() < deadline; pollMs = Math.min(pollsMs.most, pollMs * 1.3)) {
    await delay(pollMs, signal)
    const now = await deps.ledger.getRun(run_id)
    const fault = faultIn(now, asking)
    if (fault !== undefined && fault.at !== former?.at) return { kind: 'faulty', fault: faultOf(fault) }
    const composition = await readNoted(now, asking, deps)
    if (composition !== undefined) return { kind: 'there', composition }
  }
  return { kind: 'coming' }
}

/** Returns what became of a patch when it was composed last; undefined when it never was, or its note is forgotten. */
export function patchNoteOf({ patches, parts }: Run, { of, part }: WantedPatch): PatchNote | undefined {
  return part === undefined ? patches[of] : parts.find((note) => note.part === part)
}

async function readNoted(
  run: Run,
  { wanted, isCurrent }: Asking,
  { records }: Pick<AskPatchDeps, 'records'>,
): Promise<Composition | undefined> {
  const note = patchNoteOf(run, wanted)
  if (note === undefined || !('compositionKey' in note) || !isCurrent(note.decided)) return undefined
  // It may have been replaced since the run was read: then the next look finds another one.
  const read = records.readComposition(run, note.compositionKey).catch(undefinedOn('STORE_003'))
  return (await read) ?? undefined
}

/** Returns the note that says why the patch of the last decision could not be composed. */
function faultIn(run: Run, { wanted, last }: Asking) {
  const note = patchNoteOf(run, wanted)
  return note !== undefined && note.decided >= last && 'errorCode' in note ? note : undefined
}

function faultOf({ errorCode, reason }: { errorCode: string; reason: string }): AppError {
  return new AppError(isErrorCode(errorCode) ? errorCode : 'TOOL_004', reason)
}

/** Makes the error of a run that has no patch: RUN_006 when it goes on, RUN_007 when it ended without one. */
export function withoutPatch({ runId, status }: Run): AppError {
  if (!isEnded(status)) return new AppError('RUN_006', `Run ${runId} has no patch yet: it is ${status}.`)
  const end = status === 'cancelled' ? 'was cancelled' : status === 'failed' ? 'failed' : `is ${status}`
  const wayOn = `"remora retry ${runId}" does the rest and makes one patch of all.`
  return new AppError('RUN_007', `Run ${runId} ${end}: it has no patch; ${wayOn}`)
}
