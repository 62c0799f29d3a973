import { requireGenuine } from '#change-sets/genuine-run.ts'
import type { EventOrigin } from '#domain/event.ts'
import { newRunId, type OperationId, type RunId } from '#domain/ids.ts'
import { mayGoOn, type ModelKind } from '#domain/model-kind.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { newTraceparent, parseTraceparent } from '#domain/traceparent.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { mostOperations } from './rejected-operations.ts'
import { requestOfRetry, startRetry, type StartRetryDeps } from './start-retry.ts'
import { type WantedLedger, wantedByDecisions, type WantedRetry } from './wanted-by-decisions.ts'

export type StartWantedDeps = {
  ledger: WantedLedger & StartRetryDeps['ledger'] & Pick<Ledger, 'claimRetry' | 'noteRetry' | 'readDecisions'>
  /** A run that was begun with another kind of model is retried by a stack that has that. */
  modelKind?: ModelKind | undefined
  origin: EventOrigin
}

/** So often the retries of a run may change while it is looked at. */
const maxTries = 10

/**
 * Starts the retries that the decisions kept in run `root` ask for, of runs that have ended: for each of these one run that repeats all
 * that is wanted of it, 1,000 operations at most; the rest follows when that has ended. May be called by several processes, and
 * again after any of them died: one retry is made. Answers how it stands with each rejection. RUN_001 for an unknown run.
 */
export async function startWantedRetries(root: RunId, deps: StartWantedDeps): Promise<WantedRetry[]> {
  for (let tries = 1; ; tries += 1) {
    const wanted = await wantedByDecisions(await deps.ledger.readDecisions(root), deps.ledger)
    const due = dueRetries(wanted, deps)
    if (due.length === 0 || tries === maxTries) return wanted
    for (const one of due) await startOne(one, deps)
  }
}

type DueRetry = { of: Run; operations: OperationId[] }

function dueRetries(wanted: readonly WantedRetry[], { modelKind }: Pick<StartWantedDeps, 'modelKind'>): DueRetry[] {
  const due = wanted.flatMap((one) => {
    const isDue = one.state === 'waiting' && isEnded(one.of.status) && mayGoOn(one.of.request.labels, modelKind)
    return isDue ? [one] : []
  })
  return [...Map.groupBy(due, ({ of }) => of.runId).values()].flatMap((same) => {
    const operations = [...new Set(same.map(({ decision }) => decision.operationId))].slice(0, mostOperations)
    return same[0] === undefined ? [] : [{ of: same[0].of, operations }]
  })
}

/** Nothing when the run has had another retry since it was read. */
async function startOne({ of, operations }: DueRetry, deps: StartWantedDeps): Promise<void> {
  const { ledger, origin } = deps
  await requireGenuine(of, ledger)
  const runId = await ledger.claimRetry(of.runId, { retry: newRunId(Date.now()), seen: of.retries })
  if (runId === 'changed') return
  const request = { ...requestOfRetry(of), operations }
  // A trace of its own, recorded where the former run's was.
  const traceparent = newTraceparent(null, parseTraceparent(of.traceparent)?.isSampled)
  await startRetry(of, { runId, request, origin, traceparent }, deps)
  await ledger.noteRetry(of.runId, { retry: runId, how: 'made' })
}
