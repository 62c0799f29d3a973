import { chainOf } from '#composition/run-chain.ts'
import { AppError, isErrorCode } from '#domain/error.ts'
import { isEnded, type PatchKind, type Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Composition } from '#objects/composition.ts'
import { delay } from '#platform/clock.ts'
import type { PayloadOf } from '#queues/catalog.ts'
import type { ChangeRecords } from './run-changes.ts'

export type PatchDeps = {
  ledger: Pick<Ledger, 'getRun' | 'readDecisions'>
  records: Pick<ChangeRecords, 'readComposition'>
  producer: { add(queue: 'patches', id: string, payload: PayloadOf<'patches'>): Promise<unknown> }
}

/** As long as proxies and clients usually wait for an answer. */
const mostWaitMs = 25_000
const pollMs = 25

/**
 * The composition of a patch of the run as of the last decision. One that is not there yet is composed by a worker: waits up to
 * 25 s for it. RUN_006 when it is not there by then, or when the run is not composed and all its changes were asked for; RUN_007
 * when the run ended without a patch; the worker's fault when there cannot be one.
 */
export async function findPatch(run: Run, of: PatchKind, deps: PatchDeps): Promise<Composition> {
  const composed = await deps.records.readComposition(run)
  if (composed === null && of === 'proposed') throw withoutPatch(run)
  const chain = await chainOf(run, deps.ledger)
  const { last } = await deps.ledger.readDecisions((chain.at(-1) ?? run).runId)
  if (last === 0)
    return of === 'proposed' && composed !== null ? composed : { v: 1, runId: run.runId, of, files: [], conflicts: [] }
  const deadline = performance.now() + mostWaitMs
  let isAsked = false
  for (let now = run; ; now = await deps.ledger.getRun(run.runId)) {
    const note = now.patches[of]
    if (note !== undefined && note.decided >= last) {
      if ('errorCode' in note) throw faultOf(note)
      const composition = await deps.records.readComposition(now, note.compositionKey)
      if (composition !== null) return composition
    }
    if (!isAsked) await deps.producer.add('patches', `${run.runId}-${of}-${last}`, jobOf(run, of))
    isAsked = true
    if (performance.now() > deadline) {
      throw new AppError('RUN_006', `A worker composes the patch of run ${run.runId} again: ask again in a moment.`)
    }
    await delay(pollMs)
  }
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
