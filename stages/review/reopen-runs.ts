import { AppError } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import { newToken, type RunId } from '#domain/ids.ts'
import { mayGoOn, type ModelKind, requireSameModel } from '#domain/model-kind.ts'
import { isEnded, type Run, type WantedWork } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { mostOperations, type RejectedLedger, wantedByDecisions, type WantedRetry } from './rejected-work.ts'

export type StartWantedDeps = {
  ledger: RejectedLedger & Pick<Ledger, 'getRun' | 'readDecisions' | 'reopen'>
  /** A run that was begun with another kind of model is reopened by a stack that has that. */
  modelKind?: ModelKind | undefined
  origin: EventOrigin
}

/** A run as it stands now, and what became of the rejections that ask for a retry. */
export type WantedRetries = { run: Run; wanted: WantedRetry[] }

/** So often others may reopen the run while it is looked at. */
const maxTries = 10

/**
 * Reopens an ended run for all that its decisions want to be tried again, 1,000 operations at most; the rest follows when that has ended. Before
 * that it is reopened once for what has failed, where an answer asks for it. May be called by several processes, and again after any of them died: there is one such generation. RUN_001 for an unknown run.
 */
export async function startWantedRetries(runId: RunId, deps: StartWantedDeps): Promise<WantedRetries> {
  const { ledger, modelKind, origin } = deps
  for (let tries = 1; ; tries += 1) {
    const run = await ledger.getRun(runId)
    const wanted = await wantedByDecisions(run, await ledger.readDecisions(runId), ledger)
    const waiting = wanted.flatMap(({ state, decision }) => (state === 'waiting' ? [decision.operationId] : []))
    const mayReopen = isEnded(run.status) && mayGoOn(run.request.labels, modelKind) && tries < maxTries
    if (mayReopen && wantsFailed(run)) {
      await ledger.reopen(run, { wanted: wantedAgain(run), origin, command: newToken() })
      continue
    }
    if (!mayReopen || waiting.length === 0) return { run, wanted }
    const operations = [...new Set(waiting)].slice(0, mostOperations)
    await ledger.reopen(run, { wanted: { operations, byDecisions: true }, origin, command: newToken() })
  }
}

/** Is true when an answer asks for what failed to be tried again, and something has. */
export function wantsFailed({ wantsRetry, counts }: Run): boolean {
  return wantsRetry && (counts.failed ?? 0) + (counts.blocked ?? 0) > 0
}

/** Checks what any reopening that somebody asks for needs. RUN_006 while the run goes on; RUN_009 where this stack has another kind of model. */
export function requireRetryable(run: Run, kind: ModelKind | undefined): void {
  if (!isEnded(run.status)) throw goesOn(run)
  requireSameModel({ runId: run.runId, labels: run.request.labels }, kind)
}

export function goesOn({ runId }: Pick<Run, 'runId'>): AppError {
  return new AppError('RUN_006', `Run "${runId}" has not ended: there is nothing to retry.`)
}

const notWell = ['failed', 'blocked', 'skipped', 'cancelled'] as const

/**
 * Says what a reopening does that names nothing: what did not end well. A generation that ended before it was planned is asked for again. INTAKE_007
 * where all of the run ended well. A run may also have ended before its patch was composed.
 */
export function wantedAgain(run: Run): WantedWork {
  const { runId, status, compositionKey, counts } = run
  const isComposed = status === 'completed' && compositionKey !== null
  if (isComposed && notWell.every((state) => (counts[state] ?? 0) === 0))
    throw new AppError('INTAKE_007', `No operation of run "${runId}" failed: there is nothing to retry.`)
  return stillToPlan(run) ?? {}
}

/** Refuses to name operations while others were never planned, which nobody would know of afterwards. RUN_006. */
export function requirePlanned(run: Run): void {
  if (stillToPlan(run)?.unplanned !== true) return
  const reason = `Run "${run.runId}" ended before all of its work was planned: retry all of it, without naming operations.`
  throw new AppError('RUN_006', reason)
}

/** Returns what the last generation was to do, if it ended before that was planned. */
function stillToPlan({ isPlanned, wanted }: Run): WantedWork | undefined {
  return isPlanned ? undefined : (wanted ?? { unplanned: true })
}
