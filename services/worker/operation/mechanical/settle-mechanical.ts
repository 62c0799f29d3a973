import type { Outcome } from '#domain/operation.ts'
import { putAttemptRecord } from '#objects/stored-records.ts'
import { attemptSoFar } from '../attempt/attempt-so-far.ts'
import { costSoFar, type RunningAttempt } from '../attempt/running-attempt.ts'
import { changeSetEvent, type SettleDeps } from '../ending/settle-operation.ts'
import type { MechanicalWork } from './make-lint-fixes.ts'

/** What of the faults that were left alone a summary names. */
const namedReasons = 3

/** Ends a mechanical operation as an agent's is ended: its record, then one atomic commit. */
export async function settleMechanical(running: RunningAttempt, work: MechanicalWork, deps: SettleDeps): Promise<void> {
  const { attempt, journal, bundle } = running
  for (const set of work.sets) journal.emit(changeSetEvent(set))
  const outcome = outcomeOf(running, work)
  const made = { changeSet: null, changeSets: work.sets, leftAlone: work.leftAlone }
  const record = { ...attemptSoFar(running, deps.versions), ...made, outcome }
  const recordHash = await putAttemptRecord(deps.objects, attempt.projectId, record)
  const { n, events } = await journal.close()
  const left = work.leftAlone.map(({ rule, line, reason }) => ({ rule, line, reason }))
  const result = {
    details: { fixed: work.fixed, left_alone: left, grail_check: { valid: true, warnings: bundle.bundle.warnings } },
    evidence: work.sets.flatMap(({ evidence }) => evidence),
    findings: [],
    learnings: [],
    artifacts: [],
  }
  await deps.ledger.settle(attempt, n, { outcome: { ...outcome, recordHash }, events, result })
}

function outcomeOf(running: RunningAttempt, { sets, fixed, leftAlone }: MechanicalWork): Outcome {
  const made = fixed.map(({ rules, count }) => `${rules.join(', ')} (${count})`).join('; ')
  const left =
    leftAlone.length === 0 ? '' : `; left alone: ${leftAlone.slice(0, namedReasons).map(leftText).join('; ')}`
  const more = leftAlone.length > namedReasons ? ` and ${leftAlone.length - namedReasons} more` : ''
  const summary = `${made === '' ? 'no fix was made' : `fixed without a model: ${made}`}${left}${more}`
  const cost = costSoFar(running)
  if (sets.length === 0) return { status: 'unchanged', summary, changedFiles: [], ...cost }
  const changeSetIds = sets.map(({ changeSetId }) => changeSetId)
  return { status: 'succeeded', summary, changeSetIds, changedFiles: [running.attempt.node.path], ...cost }
}

function leftText({ rule, line, reason }: MechanicalWork['leftAlone'][number]): string {
  return `${rule} in line ${line} (${reason})`
}
