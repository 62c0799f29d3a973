import { AppError, isErrorCode } from '#domain/error.ts'
import { newToken, type OperationId, type ProjectId, sha256 } from '#domain/ids.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import type { Operation } from '#domain/operation.ts'
import type { ErrorPolicyName, Run, RunStatus, WantedWork } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { RunHolder } from '#store/ledger/run-commands.ts'
import { isFeedback, mostOperations, rejectedWork } from '#stages/review/rejected-work.ts'
import { goesOn, requirePlanned, requireRetryable, wantedAgain } from '#stages/review/reopen-runs.ts'
import type { AcceptDeps } from './accept-run.ts'
import type { IdempotencyRecord } from './idempotency.ts'

export type Retry = {
  run: Run
  /** Repeats only these of its operations; undefined: all that did not end well. */
  operations: readonly OperationId[] | undefined
  /** Instead of `operations`: repeats what failed or was blocked with one of these error codes. */
  codes?: readonly string[] | undefined
  /** Instead of both: repeats the operations whose last change set was rejected with a reason. */
  rejected?: boolean | undefined
  /** Replaces the one that the run has. */
  errorPolicy?: ErrorPolicyName | undefined
  idempotencyKey: string | undefined
  requestId: string
  holder?: RunHolder | undefined
}

export type RetryDeps = Pick<AcceptDeps, 'idempotency'> & {
  modelKind?: ModelKind | undefined
  ledger: Pick<Ledger, 'countFailures' | 'expectRunRoom' | 'getOperation' | 'getRun' | 'readDecisions' | 'reopen'>
}

/**
 * Reopens a run that has ended, and returns its new generation. RUN_006 while it is going on, or where operations are named of one that was
 * never planned whole; INTAKE_007 when there is nothing to repeat, RUN_004 for an unknown operation, RUN_009 where another kind of model
 * made its change sets, LIMIT_003 for a token with too many runs.
 */
export async function retryRun(retry: Retry, deps: RetryDeps): Promise<{ generation: number; status: RunStatus }> {
  const { run, errorPolicy, requestId, holder } = retry
  const keyed = keyOf(retry)
  const before = keyed && generationOf(await deps.idempotency.find(keyed.projectId, keyed.key), keyed)
  // Somebody else may have begun the generation that this request was to begin.
  const named = keyed && sha256([keyed.bodyHash, keyed.key, before ?? run.generation + 1].join('\0'))
  if (before !== undefined && (run.reopenedBy === named || before < run.generation))
    return { generation: before, status: run.status }
  requireRetryable(run, deps.modelKind)
  const wanted = await wantedBy(retry, deps)
  if (holder !== undefined) await deps.ledger.expectRunRoom(holder)
  if (keyed !== undefined) {
    const record = { bodyHash: keyed.bodyHash, runId: run.runId, generation: run.generation + 1 }
    generationOf(await deps.idempotency.claim(keyed.projectId, keyed.key, record), keyed)
  }
  const how = { wanted, errorPolicy, holder, origin: { kind: 'api', id: requestId } } as const
  const answer = await deps.ledger.reopen(run, { ...how, command: named ?? newToken() })
  if (typeof answer === 'string') throw goesOn(run)
  const { status } = await deps.ledger.getRun(run.runId)
  return { generation: answer.generation, status }
}

type KeyedRetry = { projectId: ProjectId; key: string; bodyHash: string }

/** Undefined for a request without a key. */
function keyOf({ run, operations, codes, rejected, errorPolicy, idempotencyKey: key }: Retry): KeyedRetry | undefined {
  const { runId, projectId } = run
  const request = { runId, operations, codes: codes && [...new Set(codes)].toSorted(), rejected, errorPolicy }
  return key === undefined ? undefined : { projectId, key, bodyHash: sha256(`retry\0${JSON.stringify(request)}`) }
}

/** Returns the generation that the same request was for before. INTAKE_005 for a key that came with another request. */
function generationOf(kept: IdempotencyRecord | undefined, { bodyHash }: KeyedRetry): number | undefined {
  if (kept === undefined) return undefined
  if (kept.bodyHash === bodyHash && 'runId' in kept) return kept.generation
  throw new AppError('INTAKE_005', 'This Idempotency-Key was used before with another request.')
}

async function wantedBy(retry: Retry, deps: RetryDeps): Promise<WantedWork> {
  const { run, codes } = retry
  for (const id of retry.operations ?? []) await deps.ledger.getOperation(run.runId, id)
  if (retry.operations !== undefined) requirePlanned(run)
  if (codes !== undefined) await requireCodes(run, codes, deps.ledger)
  const operations = retry.rejected === true ? await rejectedOperations(run, deps.ledger) : retry.operations
  if (operations !== undefined) return { operations: [...operations] }
  if (codes !== undefined) return { codes: [...new Set(codes)].toSorted() }
  return wantedAgain(run)
}

/** Returns agents' operations that were rejected with a reason and not tried again since. INTAKE_007 for none, INTAKE_003 for over 1,000. */
async function rejectedOperations(run: Run, ledger: RetryDeps['ledger']): Promise<OperationId[]> {
  const { byChangeSet } = await ledger.readDecisions(run.runId)
  const all = await rejectedWork(run, [...byChangeSet.values()].filter(isFeedback), ledger)
  const untried = new Set(all.flatMap(({ state, operation }) => (state === 'untried' ? [operation.operationId] : [])))
  if (untried.size === 0 && all.some(({ state }) => state === 'told')) {
    const rest = run.status === 'cancelled' ? `; it was cancelled: "remora retry ${run.runId}" does the rest` : ''
    const text = `What was rejected with a reason was tried again since in run "${run.runId}"${rest}.`
    throw new AppError('INTAKE_007', text)
  }
  if (untried.size === 0) {
    const isMechanical = (work: (typeof all)[number]) => work.state === 'void' && work.isMechanical
    throw new AppError('INTAKE_007', nothingRejected(run, all.filter(isMechanical)))
  }
  if (untried.size <= mostOperations) return [...untried]
  const text = `${untried.size} operations were rejected with a reason: name ${mostOperations} at most.`
  throw new AppError('INTAKE_003', text)
}

/** Says how many mechanical operations a message names. */
const mostNamed = 5

function nothingRejected({ runId }: Run, mechanical: readonly { operation: Operation }[]): string {
  if (mechanical.length === 0)
    return `No agent's change of run "${runId}" was rejected with a reason since it was last tried.`
  const names = [...new Set(mechanical.map(({ operation: { bundle, node } }) => `${bundle} ${node.path}`))]
  const more = names.length > mostNamed ? `, and ${names.length - mostNamed} more` : ''
  const what = `What was rejected with a reason in run "${runId}" is mechanical work: ${names.slice(0, mostNamed).join(', ')}${more}.`
  return `${what} It cannot be tried again: a program did it without a model, and would do the same.`
}

/** INTAKE_007 for a code that nothing failed with. */
async function requireCodes(run: Run, codes: readonly string[], ledger: RetryDeps['ledger']): Promise<void> {
  const failures = await ledger.countFailures(run.runId)
  const missing = codes.find((code) => !failures.some(({ errorCode }) => errorCode === code))
  if (missing === undefined) return
  const counted = failures.reduce((sum, { count }) => sum + count, 0)
  const isWhole = counted >= (run.counts.failed ?? 0) + (run.counts.blocked ?? 0)
  if (!isWhole && isErrorCode(missing)) return
  const counts = failures.map(({ errorCode, count }) => `${errorCode ?? 'no code'} (${count})`).join(', ') || 'none'
  throw new AppError('INTAKE_007', `No operation of run "${run.runId}" failed with ${missing}; its codes: ${counts}.`)
}
