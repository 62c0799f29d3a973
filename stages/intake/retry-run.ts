import { chainOf } from '#change-sets/run-chain.ts'
import { AppError, isErrorCode } from '#domain/error.ts'
import { newRunId, type OperationId, type RunId, sha256 } from '#domain/ids.ts'
import { withModelKind } from '#domain/model-kind.ts'
import type { Operation } from '#domain/operation.ts'
import type { ErrorPolicyName, Run, RunRequest } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { NewRun } from '#store/ledger/run-commands.ts'
import { isFeedback, mostOperations, ofAgents, rejectedSinceLastTry } from '#stages/review/rejected-operations.ts'
import { requestOfRetry, requireRetryable, requireUnfinished, startAskedRetry } from '#stages/review/start-retry.ts'
import { openTriedBy } from '#stages/review/wanted-by-decisions.ts'
import { expectNotDeleted, type AcceptDeps } from './accept-run.ts'
import type { Correlation } from './accept-run.ts'

export type Retry = {
  /** The run to retry. */
  run: Run
  /** Repeats only these of its operations; undefined: all that did not end well. */
  operations: readonly OperationId[] | undefined
  /** Instead of `operations`: repeats what failed or was blocked with one of these error codes. */
  codes?: readonly string[] | undefined
  /** Instead of both: repeats the operations whose last change set was rejected with a reason. */
  rejected?: boolean | undefined
  /** Replaces the former request's. */
  errorPolicy?: ErrorPolicyName | undefined
  idempotencyKey: string | undefined
  correlation: Correlation
  holder?: NewRun['holder']
}

export type RetryDeps = Pick<AcceptDeps, 'producer' | 'idempotency' | 'modelKind'> & {
  ledger: Pick<
    Ledger,
    | 'cancel'
    | 'countFailures'
    | 'createRun'
    | 'endedOperations'
    | 'expectRunRoom'
    | 'getOperation'
    | 'getRun'
    | 'isBeingDeleted'
    | 'noteRetry'
    | 'readDecisions'
  >
}

/**
 * Starts a new run over the same upload that repeats what did not end well in `run`, which must have ended. Its patch also
 * has the changes that succeeded before. RUN_006 while the run is going on, INTAKE_007 when there is nothing to repeat or
 * no operation failed with one of the codes, RUN_004 for an operation that the run does not have, RUN_009 when its change
 * sets were made by another kind of model than this stack's, LIMIT_003 for a token with too many runs, RUN_001 when the run is deleted at the same time.
 */
export async function retryRun(retry: Retry, deps: RetryDeps): Promise<{ runId: RunId; status: 'queued' }> {
  const { run, codes, errorPolicy, correlation, holder } = retry
  requireRetryable(run, deps.modelKind)
  const operations = retry.rejected === true ? await rejectedOperations(retry, deps) : retry.operations
  for (const id of retry.operations ?? []) await deps.ledger.getOperation(run.runId, id)
  if (codes !== undefined) await requireCodes(run, codes, deps.ledger)
  if (operations === undefined) requireUnfinished(run)
  const request: RunRequest = {
    ...withModelKind(requestOfRetry(run), deps.modelKind),
    retryOf: run.runId,
    ...(errorPolicy === undefined ? {} : { errorPolicy }),
    ...(operations === undefined ? {} : { operations: [...operations] }),
    ...(codes === undefined ? {} : { codes: [...new Set(codes)].toSorted() }),
  }
  const runId = await idOf(retry, request, deps)
  const { requestId, traceparent } = correlation
  const origin = { kind: 'api', id: requestId } as const
  await startAskedRetry(run, { runId, request, traceparent, origin, holder }, deps)
  await deps.producer.add('snapshots', runId, { run_id: runId, traceparent })
  return { runId, status: 'queued' }
}

/**
 * The agents' operations, of the run or of one that it retries, whose last change set was rejected with a reason after they
 * ended, without those that a retry has tried since, or is to try: what was said is told once. A retry with the same idempotency key
 * is this one. INTAKE_007 when there is none, or only mechanical work was rejected; INTAKE_003 for more than 1,000.
 */
async function rejectedOperations(
  { run, idempotencyKey: key }: Retry,
  { ledger, idempotency }: RetryDeps,
): Promise<OperationId[]> {
  const same = key === undefined ? undefined : await idempotency.find(run.projectId, key)
  const chain = await chainOf(run, ledger)
  const decisions = await ledger.readDecisions((chain.at(-1) ?? run).runId)
  const feedback = [...decisions.byChangeSet.values()].filter(isFeedback)
  const untried = await rejectedSinceLastTry(chain, feedback, ledger)
  const rejected = ofAgents(untried)
  const triedBy = await openTriedBy(chain, ledger)
  const isTold = (by: Run | undefined) => by !== undefined && !(same && 'runId' in same && same.runId === by.runId)
  const found = new Set(rejected.flatMap((one) => (isTold(triedBy(one)) ? [] : one.operationId)))
  const [other] = rejected
  const by = other && triedBy(other)
  if (found.size === 0 && by !== undefined) {
    const rest = by.status === 'cancelled' ? `, which was cancelled: "remora retry ${by.runId}" does the rest` : ''
    throw new AppError(
      'INTAKE_007',
      `What was rejected with a reason is tried again in run "${by.runId}" already${rest}.`,
    )
  }
  if (found.size === 0) {
    const mechanical = untried.flatMap(({ operation }) => (operation.work === 'mechanical' ? [operation] : []))
    throw new AppError('INTAKE_007', nothingRejected(run, mechanical))
  }
  if (found.size <= mostOperations) return [...found]
  throw new AppError(
    'INTAKE_003',
    `${found.size} operations were rejected with a reason: name ${mostOperations} at most.`,
  )
}

/** Says how many mechanical operations a message names. */
const mostNamed = 5

function nothingRejected({ runId }: Run, mechanical: readonly Operation[]): string {
  if (mechanical.length === 0)
    return `No agent's change of run "${runId}" was rejected with a reason since it was last tried.`
  const names = [...new Set(mechanical.map(({ bundle, node }) => `${bundle} ${node.path}`))]
  const more = names.length > mostNamed ? `, and ${names.length - mostNamed} more` : ''
  const what = `What was rejected with a reason in run "${runId}" is mechanical work: ${names.slice(0, mostNamed).join(', ')}${more}.`
  return `${what} It cannot be tried again: a program did it without a model, and would do the same.`
}

/** INTAKE_007 for a code that nothing failed with. Where not all failures are counted (read-operations.ts), planning finds out. */
async function requireCodes(run: Run, codes: readonly string[], ledger: RetryDeps['ledger']): Promise<void> {
  const failures = await ledger.countFailures(run.runId)
  const missing = codes.find((code) => !failures.some(({ errorCode }) => errorCode === code))
  if (missing === undefined) return
  const counted = failures.reduce((sum, { count }) => sum + count, 0)
  const isWhole = counted >= (run.counts.failed ?? 0) + (run.counts.blocked ?? 0)
  if (!isWhole && isErrorCode(missing)) return
  const found = failures.map(({ errorCode, count }) => `${errorCode ?? 'no code'} (${count})`).join(', ') || 'none'
  throw new AppError('INTAKE_007', `No operation of run "${run.runId}" failed with ${missing}; its codes: ${found}.`)
}

/** The new run's id, or the one its idempotency key already stands for. */
async function idOf({ run, idempotencyKey: key }: Retry, request: RunRequest, deps: RetryDeps): Promise<RunId> {
  const runId = newRunId(Date.now())
  if (key === undefined) return runId
  const bodyHash = sha256(`retry\0${JSON.stringify(request)}`)
  const holder = await deps.idempotency.claim(run.projectId, key, { runId, bodyHash })
  if ('runId' in holder && holder.bodyHash === bodyHash) {
    await expectNotDeleted({ runId: holder.runId, projectId: run.projectId }, deps.ledger)
    return holder.runId
  }
  throw new AppError('INTAKE_005', 'This Idempotency-Key was used before with another request.')
}
