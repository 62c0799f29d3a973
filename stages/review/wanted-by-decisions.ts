import { chainOf } from '#change-sets/run-chain.ts'
import type { Decision } from '#domain/decision.ts'
import { undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { isFeedback, repeatable } from './rejected-operations.ts'

export type WantedLedger = Pick<Ledger, 'endedOperations' | 'getOperation' | 'getRun'>

/**
 * Says what became of a rejection that asks for a retry. `waiting`: `of` is retried when it has ended, or now if it has. `started`: by
 * the run `by`. `void`: neither, since an agent cannot try it again, did so since, or the run was cancelled after it was said.
 */
export type WantedRetry =
  | { state: 'waiting'; decision: Decision; of: Run }
  | { state: 'started'; decision: Decision; by: Run }
  | { state: 'void'; decision: Decision }

/** Returns what became of all rejections of a chain that ask for a retry, in the order in which they were made. */
export async function wantedByDecisions(
  { byChangeSet }: Pick<Decisions, 'byChangeSet'>,
  ledger: WantedLedger,
): Promise<WantedRetry[]> {
  const asking = [...byChangeSet.values()].filter((one) => one.retry !== undefined && isFeedback(one))
  const found: WantedRetry[] = []
  for (const [named, decisions] of Map.groupBy(asking, ({ retry }) => retry)) {
    const run = named && (await findRun(named, ledger))
    if (run) found.push(...(await wantedOf(run, decisions, ledger)))
    else found.push(...decisions.map((decision) => ({ state: 'void' as const, decision })))
  }
  return found.toSorted((one, other) => one.decision.version - other.decision.version)
}

/**
 * Returns those of the sets to reject with a retry once more whose earlier wish for one is over: its retry has ended, or there will be
 * none, and an agent could try them again now.
 */
export async function retriesOver(
  wanted: readonly { changeSetId: string; retry?: RunId | undefined }[],
  { byChangeSet }: Decisions,
  ledger: WantedLedger,
): Promise<ReadonlySet<string>> {
  const before = new Map<string, Decision>()
  const asked = new Map<string, RunId>()
  for (const { changeSetId: id, retry } of wanted) {
    const decision = byChangeSet.get(id)
    if (retry === undefined || decision?.retry === undefined) continue
    asked.set(id, retry)
    before.set(id, decision)
  }
  if (asked.size === 0) return new Set()
  const over = new Map<string, Decision>()
  for (const one of await wantedByDecisions({ byChangeSet: before }, ledger)) {
    const isOver = one.state === 'void' || (one.state === 'started' && isEnded(one.by.status))
    const { changeSetId: id } = one.decision
    const retry = asked.get(id)
    if (isOver && retry !== undefined) over.set(id, { ...one.decision, retry, at: Number.MAX_SAFE_INTEGER })
  }
  // As if it was said after all that has happened.
  const again = await wantedByDecisions({ byChangeSet: over }, ledger)
  return new Set(again.flatMap(({ state, decision }) => (state === 'waiting' ? decision.changeSetId : [])))
}

/** Returns what became of the rejections that named `run`. What still waits is tried again in a retry of the newest run of its chain. */
async function wantedOf(run: Run, decisions: readonly Decision[], ledger: WantedLedger): Promise<WantedRetry[]> {
  const of = await newestRetry(run, ledger)
  const chain = await chainOf(of, ledger)
  const startedBy = await openTriedBy(chain, ledger)
  const open = decisions.filter((one) => startedBy(one) === undefined && !isCancelledSince(one, of))
  const waiting = new Set(await repeatable(chain, open, ledger))
  return decisions.map((decision): WantedRetry => {
    const by = startedBy(decision)
    if (by !== undefined) return { state: 'started', decision, by }
    return waiting.has(decision) ? { state: 'waiting', decision, of } : { state: 'void', decision }
  })
}

/**
 * Finds the newest retry, of any run of the chain, that was accepted after a rejection and has its operation to try: what was said is
 * told there, whoever asked for that retry.
 */
export async function openTriedBy(
  chain: readonly Run[],
  ledger: Pick<Ledger, 'getRun'>,
): Promise<(rejection: Pick<Decision, 'operationId' | 'at'>) => Run | undefined> {
  const all = await withAllRetries(chain, ledger)
  return ({ operationId, at }) =>
    all.find(({ request, acceptedAt }) => acceptedAt >= at && request.operations?.includes(operationId) === true)
}

/** Cancelling a run also cancels the retries that were asked for before, and none that is asked for afterwards. */
function isCancelledSince({ at }: Decision, { status, endedAt }: Run): boolean {
  return status === 'cancelled' && endedAt !== null && at <= endedAt
}

/** The run in which the work of `run` goes on: its newest retry that is there, the newest of that one, and so on. */
export async function newestRetry(run: Run, ledger: Pick<Ledger, 'getRun'>): Promise<Run> {
  const next = await retryOf(run, ledger)
  return next === undefined ? run : newestRetry(next, ledger)
}

/** The newest retry of the run that is there. */
export async function retryOf({ retries }: Pick<Run, 'retries'>, ledger: Pick<Ledger, 'getRun'>) {
  for (const runId of retries.toReversed()) {
    const retry = await findRun(runId, ledger)
    if (retry !== undefined) return retry
  }
  return undefined
}

/**
 * These runs, their retries, the retries of those and so on, the newest first. A run may have several retries, of which the newest
 * chain has one.
 */
export async function withAllRetries(chain: readonly Run[], ledger: Pick<Ledger, 'getRun'>): Promise<Run[]> {
  const found = new Map(chain.map((run) => [run.runId, run]))
  for (const { retries } of found.values()) {
    const others = retries.filter((runId) => !found.has(runId))
    const read = await Promise.all(others.map((runId) => findRun(runId, ledger)))
    for (const retry of read) if (retry !== undefined) found.set(retry.runId, retry) // is walked over, too
  }
  return [...found.values()].toSorted((one, other) => other.acceptedAt - one.acceptedAt)
}

function findRun(runId: RunId, ledger: Pick<Ledger, 'getRun'>): Promise<Run | undefined> {
  return ledger.getRun(runId).catch(undefinedOn('RUN_001'))
}
