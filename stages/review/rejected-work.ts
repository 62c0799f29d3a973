import { replacedSets } from '#change-sets/sets-of-run.ts'
import type { Decision, Verdict } from '#domain/decision.ts'
import type { Operation } from '#domain/operation.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'

/** A reopening repeats no more operations that are named. */
export const mostOperations = 1_000

/** Is true for a rejection with a reason, which an agent is to be told. */
export function isFeedback({ verdict, reason }: Pick<Decision, 'verdict' | 'reason'>): boolean {
  return verdict === 'rejected' && reason !== null
}

/**
 * Says what became of a rejection. `untried`: an agent may try the work again, and be told what was said. `told`: it does so, or has. `void`: there is
 * nothing to try again: the work was done again before that was said, or a program did it, and would only do the same (`mechanical`).
 */
export type RejectedWork = { decision: Decision; operation: Operation } & State

type State = { state: 'untried' | 'told' } | { state: 'void'; isMechanical: boolean }

export type RejectedLedger = Pick<Ledger, 'getOperation'>

export async function rejectedWork(
  run: Run,
  rejected: readonly Decision[],
  ledger: RejectedLedger,
): Promise<RejectedWork[]> {
  const works: RejectedWork[] = []
  for (const decision of rejected) {
    const operation = await ledger.getOperation(run.runId, decision.operationId)
    const later: Operation[] = []
    for (let next = operation.supersededBy; next !== null; next = later.at(-1)?.supersededBy ?? null)
      later.push(await ledger.getOperation(run.runId, next))
    works.push({ decision, operation, ...stateOf(decision, [operation, ...later], run) })
  }
  return works
}

function stateOf({ changeSetId, at }: Decision, records: readonly [Operation, ...Operation[]], run: Run): State {
  const [operation, ...later] = records
  if (isWantedSince(at, records, run) || later.some((record) => isTold(record, at))) return { state: 'told' }
  const isMechanical = operation.work === 'mechanical'
  // A record that was running when it was said does not count: it was not told.
  const known = records.filter(({ endedAt }) => endedAt !== null && endedAt <= at)
  const stands = known.includes(operation) && !replacedSets(known).has(changeSetId)
  return stands && !isMechanical ? { state: 'untried' } : { state: 'void', isMechanical: stands && isMechanical }
}

/** Is true when the run was reopened for this work since, whether that is planned by now or not. */
function isWantedSince(at: number, records: readonly Operation[], { wanted, reopenedAt }: Run): boolean {
  if (reopenedAt === null || reopenedAt < at) return false
  return records.some(({ operationId }) => wanted?.operations?.includes(operationId) === true)
}

/** Is true when the record began after that was said, or is still to begin. */
function isTold({ begunAt, endedAt }: Operation, at: number): boolean {
  return begunAt === null ? endedAt === null : begunAt > at
}

/**
 * Says what became of a rejection that asks for a retry. `waiting`: the run is reopened for it when it has ended, or now if it has. `started`: it
 * is told in a later generation. `void`: neither, since an agent cannot try it again, did so since, or the run was cancelled after it was said.
 */
export type WantedRetry = { state: 'waiting' | 'started' | 'void'; decision: Decision }

/** Returns what became of all rejections of a run that ask for a retry, in the order in which they were made. */
export async function wantedByDecisions(
  run: Run,
  { byChangeSet }: Pick<Decisions, 'byChangeSet'>,
  ledger: RejectedLedger,
): Promise<WantedRetry[]> {
  const asking = [...byChangeSet.values()].filter((decision) => decision.retry === true && isFeedback(decision))
  const retries = (await rejectedWork(run, asking, ledger)).map(({ decision, state }): WantedRetry => {
    if (state === 'told') return { state: 'started', decision }
    return { state: state === 'untried' && !isCancelledSince(decision, run) ? 'waiting' : 'void', decision }
  })
  return retries.toSorted((left, right) => left.decision.version - right.decision.version)
}

/** Cancelling a run also cancels the retries that were asked for before, and none that is asked for afterwards. */
function isCancelledSince({ at }: Decision, { status, endedAt }: Run): boolean {
  return status === 'cancelled' && endedAt !== null && at <= endedAt
}

/** Sorts sets that are rejected once more, and whose rejection before asked for a retry, by what became of that. */
export type RetriesBefore = {
  /** It has not started. */
  waiting: ReadonlySet<string>
  /** The generation that was told has ended, or there will be none, and an agent could try it again now. */
  over: ReadonlySet<string>
}

export async function retriesBefore(
  run: Run,
  wanted: readonly { changeSetId: string; verdict: Verdict }[],
  { byChangeSet }: Decisions,
  ledger: RejectedLedger,
): Promise<RetriesBefore> {
  const asked = wanted.flatMap(({ changeSetId: id, verdict }) => {
    const decision = byChangeSet.get(id)
    return verdict === 'rejected' && decision?.retry === true ? [[id, decision] as const] : []
  })
  const states = await wantedByDecisions(run, { byChangeSet: new Map(asked) }, ledger)
  const isOver = ({ state }: WantedRetry) => state === 'void' || (state === 'started' && isEnded(run.status))
  // As if it was said after all that has happened.
  const now = states.filter(isOver).map(({ decision }) => ({ ...decision, at: Number.MAX_SAFE_INTEGER }))
  const again = await rejectedWork(run, now, ledger)
  return { waiting: setsIn(states, 'waiting'), over: setsIn(again, 'untried') }
}

function setsIn<Name>(all: readonly { state: Name; decision: Decision }[], state: Name): ReadonlySet<string> {
  return new Set(all.flatMap((work) => (work.state === state ? [work.decision.changeSetId] : [])))
}
