import { requireGenuine } from '#change-sets/genuine-run.ts'
import { AppError, hasCode, undefinedOn } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { type ModelKind, requireSameModel } from '#domain/model-kind.ts'
import { isEnded, type Run, type RunRequest } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { NewRun } from '#store/ledger/run-commands.ts'
import { unknownRun } from '#store/ledger/script.ts'

export type StartRetryDeps = { ledger: Pick<Ledger, 'cancel' | 'createRun' | 'getRun' | 'isBeingDeleted'> }

export type NewRetry = {
  runId: RunId
  /** Is the former run's request with what is different; `retryOf` is set here. */
  request: RunRequest
  origin: EventOrigin
  traceparent: string | null
  holder?: NewRun['holder']
}

const notWell = ['failed', 'blocked', 'skipped', 'cancelled'] as const

/**
 * Checks what any retry that somebody asks for needs. RUN_006 while the run goes on; RUN_009 where this stack has another kind of model.
 */
export function requireRetryable({ runId, status, request }: Run, kind: ModelKind | undefined): void {
  if (!isEnded(status)) throw new AppError('RUN_006', `Run "${runId}" has not ended: there is nothing to retry.`)
  requireSameModel({ runId, labels: request.labels }, kind)
}

/**
 * INTAKE_007 where all of the run ended well: there is nothing to repeat that nobody has named. A run may also have ended before all its
 * work was planned, or before its patch was composed.
 */
export function requireUnfinished({ runId, isPlanned, compositionKey, counts }: Run): void {
  if (!isPlanned || compositionKey === null || notWell.some((status) => (counts[status] ?? 0) > 0)) return
  throw new AppError('INTAKE_007', `No operation of run "${runId}" failed: there is nothing to retry.`)
}

/**
 * `startRetry` for somebody who asks for it: noted in the former run first, so that whoever looks for its newest retry misses none.
 * LIMIT_003 where the holder has too many runs, PUBLISH_005 for a run that is not genuine; nothing is noted then.
 */
export async function startAskedRetry(
  former: Run,
  retry: NewRetry,
  deps: { ledger: StartRetryDeps['ledger'] & Pick<Ledger, 'expectRunRoom' | 'noteRetry'> },
): Promise<void> {
  const { runId, holder } = retry
  await requireGenuine(former, deps.ledger)
  const isNew = async () => (await deps.ledger.getRun(runId).catch(undefinedOn('RUN_001'))) === undefined
  if (holder !== undefined && (await isNew())) await deps.ledger.expectRunRoom(holder)
  await deps.ledger.noteRetry(former.runId, { retry: runId, how: 'asked' })
  await startRetry(former, retry, deps)
}

/**
 * Creates the run that retries `former`, over the same upload. Doing it again changes nothing. Its job is added by the caller or, a
 * moment later, by the dispatcher. RUN_001 when the former run is deleted at the same time: its changes could not be used.
 */
export async function startRetry(former: Run, retry: NewRetry, { ledger }: StartRetryDeps): Promise<void> {
  const { projectId, uploadKey } = former
  const { runId, origin, traceparent, holder } = retry
  const request = { ...retry.request, retryOf: former.runId }
  const data = { agents: request.agents, retry_of: former.runId }
  const acceptedEvent = { event: 'run.accepted', phase: 'snapshot', origin, data } as const
  await ledger.createRun({ runId, projectId, request, uploadKey, traceparent, acceptedEvent, holder })
  await expectStillThere(former, retry, ledger)
}

/**
 * A retry's request, without the choice of operations of the former run, and with what its budget was at last, for itself. It is of
 * the same commit, whatever the branch has become.
 */
export function requestOfRetry({ request, budget: tokens, commit }: Run): RunRequest {
  const { operations: _operations, codes: _codes, budget: _budget, ...former } = request
  const { repository } = former
  return {
    ...former,
    ...(tokens !== null && { budget: { tokens } }),
    ...(repository !== undefined && commit !== null && { repository: { ...repository, commit } }),
  }
}

/**
 * Cancels the retry when the former run was deleted, whose changes it could not use. Once the retry exists, the former run is
 * kept (delete-run.ts).
 */
async function expectStillThere(
  former: Pick<Run, 'projectId' | 'runId'>,
  { runId, origin }: Pick<NewRetry, 'runId' | 'origin'>,
  ledger: StartRetryDeps['ledger'],
): Promise<void> {
  try {
    await ledger.getRun(former.runId)
    if (await ledger.isBeingDeleted(former)) throw unknownRun(former.runId)
  } catch (error) {
    if (!hasCode(error, 'RUN_001')) throw error
    await ledger.cancel(runId, { reason: error.message, errorCode: error.code, origin })
    throw error
  }
}
