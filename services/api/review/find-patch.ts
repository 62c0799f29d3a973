import { chainOf } from '#composition/run-chain.ts'
import { AppError, isErrorCode } from '#domain/error.ts'
import { isEnded, type PatchKind, type Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Composition } from '#objects/composition.ts'
import { delay } from '#platform/clock.ts'
import { findNotedPatch } from '#publication/read-publishable.ts'
import type { PayloadOf } from '#queues/catalog.ts'
import { AskAgain } from '../http/problem.ts'
import type { ChangeRecords } from '#review/find-sets.ts'

export type PatchDeps = {
  ledger: Pick<Ledger, 'getRun' | 'readDecisions'>
  records: Pick<ChangeRecords, 'readComposition'>
  producer: { add(queue: 'patches', id: string, payload: PayloadOf<'patches'>): Promise<unknown> }
}

/** As long as proxies and clients usually wait for an answer. */
const mostWaitMs = 25_000
/** Most patches are there by the first looks; later ones are further apart. */
const pollsMs = { least: 25, most: 500 }
/** So long a fault is believed: the next request has the patch composed again. */
const faultMs = 60_000
const askAgainS = 5

/**
 * The composition of a patch of the run as of the last decision. One that is not there yet is composed by a worker: waits up to
 * 25 s for it, or until `signal` is aborted. RUN_006 when it is not there by then, or when the run is not composed and all its
 * changes were asked for; RUN_007 when the run ended without a patch; the worker's fault when there cannot be one.
 */
export async function findPatch(run: Run, of: PatchKind, deps: PatchDeps, signal: AbortSignal): Promise<Composition> {
  const composed = await deps.records.readComposition(run)
  if (composed === null && of === 'proposed') throw withoutPatch(run)
  const chain = await chainOf(run, deps.ledger)
  const { last } = await deps.ledger.readDecisions((chain.at(-1) ?? run).runId)
  if (last === 0)
    return of === 'proposed' && composed !== null ? composed : { v: 1, runId: run.runId, of, files: [], conflicts: [] }
  const former = faultIn(run, of, last)
  if (former !== undefined && Date.now() - former.at < faultMs) throw faultOf(former)
  const deadline = performance.now() + mostWaitMs
  const noted = await findNotedPatch(run, { of, last }, deps.records)
  if (noted !== undefined) return noted
  await deps.producer.add('patches', `${run.runId}-${of}-${last}`, jobOf(run, of))
  for (let waitMs = pollsMs.least; performance.now() < deadline; waitMs = Math.min(pollsMs.most, waitMs * 1.3)) {
    await delay(waitMs, signal)
    const now = await deps.ledger.getRun(run.runId)
    const fault = faultIn(now, of, last)
    if (fault !== undefined && fault.at !== former?.at) throw faultOf(fault)
    const found = await findNotedPatch(now, { of, last }, deps.records)
    if (found !== undefined) return found
  }
  const soon = 'ask again in a moment; it takes a worker, which "remora workers" lists'
  throw new AskAgain('RUN_006', `The patch of run ${run.runId} is being composed anew: ${soon}.`, askAgainS)
}

/** Why the patch of decision `last` could not be composed. */
function faultIn(run: Run, of: PatchKind, last: number) {
  const note = run.patches[of]
  return note !== undefined && note.decided >= last && 'errorCode' in note ? note : undefined
}

function jobOf({ runId, traceparent }: Run, of: PatchKind) {
  return { run_id: runId, traceparent, of }
}

function faultOf({ errorCode, reason }: { errorCode: string; reason: string }): AppError {
  return new AppError(isErrorCode(errorCode) ? errorCode : 'TOOL_004', reason)
}

/** Why a run has no patch: RUN_006 when it goes on, RUN_007 when it ended without one. */
export function withoutPatch({ runId, status }: Run): AppError {
  if (!isEnded(status)) return new AppError('RUN_006', `Run ${runId} has no patch yet: it is ${status}.`)
  const end = status === 'cancelled' ? 'was cancelled' : status === 'failed' ? 'failed' : `is ${status}`
  const wayOn = `"remora retry ${runId}" does the rest and makes one patch of all.`
  return new AppError('RUN_007', `Run ${runId} ${end}: it has no patch; ${wayOn}`)
}
