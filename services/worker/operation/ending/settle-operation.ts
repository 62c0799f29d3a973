import type { ChangeSet } from '#domain/change-set.ts'
import type { Outcome } from '#domain/operation.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { ResultDetail } from '#ledger/result.ts'
import { putAttemptRecord } from '#objects/stored-records.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import type { AgentEvent } from '../../agent/journal.ts'
import type { Ending } from '../../agent/run-agent.ts'
import { attemptSoFar } from '../attempt/attempt-so-far.ts'
import { decideOutcome, type Decided } from './decide-outcome.ts'
import { costSoFar, type RunningAttempt } from '../attempt/running-attempt.ts'

export type SettleDeps = {
  ledger: Pick<Ledger, 'settle'>
  objects: ObjectStore
  /** Versions of what took part, for the record: linter, sandbox, this program. */
  versions: Readonly<Record<string, string>>
}

/**
 * Ends an attempt: its changes are proved, everything it did is stored as one object, then one atomic command commits
 * outcome, events, counters and what became ready. A token that is no longer current is refused and leaves no trace.
 */
export async function settleOperation(running: RunningAttempt, ending: Ending, deps: SettleDeps): Promise<void> {
  const { attempt, journal } = running
  const proof = ending.kind === 'submitted' ? await running.prove() : { changes: [], evidence: [] }
  const decided = decideOutcome(attempt, ending, { ...proof, fixedFirst: running.fixedFirst })
  if (decided.changeSet !== null) journal.emit(changeSetEvent(decided.changeSet))
  const outcome = outcomeOf(running, decided)
  const record = { ...attemptSoFar(running, deps.versions), changeSet: decided.changeSet, outcome }
  const recordHash = await putAttemptRecord(deps.objects, attempt.projectId, record)
  const { n, events } = await journal.close()
  const result = resultOf(running, decided, ending)
  await deps.ledger.settle(attempt, n, { outcome: { ...outcome, recordHash }, events, result })
}

/** That a change set was made, with what was proved about it. */
export function changeSetEvent(set: ChangeSet): AgentEvent {
  const files = set.files.map(({ path, kind }) => ({ path, kind }))
  const evidence = set.evidence.map(({ check, of, ok }) => ({ check, ...(of === undefined ? {} : { of }), ok }))
  const rules = set.rules === undefined ? {} : { rules: set.rules }
  const data = { change_set_id: set.changeSetId, ...rules, files, evidence }
  return { event: 'change_set.created', phase: 'submission', data }
}

function outcomeOf(running: RunningAttempt, { verdict, changeSet }: Decided): Outcome {
  return {
    ...verdict,
    ...(changeSet === null ? {} : { changeSetId: changeSet.changeSetId }),
    changedFiles: changeSet === null ? [] : changeSet.files.map((file) => file.path),
    ...costSoFar(running),
  }
}

/** What the results stream says of the operation beyond what the ledger knows (contract.md §3). */
function resultOf({ bundle }: RunningAttempt, decided: Decided, ending: Ending): Partial<ResultDetail> {
  const check = { valid: true, warnings: bundle.bundle.warnings }
  return {
    details: { ...detailsOf(ending), grail_check: check },
    evidence: decided.changeSet?.evidence ?? [],
    findings: [],
    learnings: [],
    artifacts: [],
  }
}

function detailsOf(ending: Ending): Record<string, unknown> {
  if (ending.kind === 'stopped') return {}
  const { submission, claimedUnchanged } = ending
  const differs = claimedUnchanged.length === 0 ? {} : { claimed_unchanged: [...claimedUnchanged] }
  return { ...submission.details, ...differs }
}
