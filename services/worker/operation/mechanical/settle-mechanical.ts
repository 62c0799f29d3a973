import type { Outcome } from '#domain/operation.ts'
import { putAttemptRecord } from '#objects/stored-records.ts'
import { attemptSoFar } from '../attempt/attempt-so-far.ts'
import { costSoFar, type RunningAttempt } from '../attempt/running-attempt.ts'
import { changeSetEvent, type SettleDeps } from '../ending/settle-operation.ts'
import type { MechanicalWork } from './make-lint-fixes.ts'

/** What of the faults that were left alone a summary names: reasons, and places for each of them. */
const [namedReasons, namedPlaces] = [3, 3]

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
  const left = leftAlone.length === 0 ? '' : `; left alone: ${leftAloneText(leftAlone)}`
  const summary = `${made === '' ? 'no fix was made' : `fixed without a model: ${made}`}${left}`
  const cost = costSoFar(running)
  if (sets.length === 0) return { status: 'unchanged', summary, changedFiles: [], ...cost }
  const changeSetIds = sets.map(({ changeSetId }) => changeSetId)
  return { status: 'succeeded', summary, changeSetIds, changedFiles: [running.attempt.node.path], ...cost }
}

/** `F401 in line 3, F401 in line 9 (why)`: each reason once, after the places it is the reason of. */
export function leftAloneText(leftAlone: MechanicalWork['leftAlone']): string {
  const reasons = [...Map.groupBy(leftAlone, ({ reason }) => reason)]
  const named = reasons.slice(0, namedReasons).map(([reason, faults]) => {
    const places = [...new Set(faults.map(({ rule, line }) => `${rule} in line ${line}`))]
    return `${someOf(places, namedPlaces)} (${reason})`
  })
  const more = reasons.slice(namedReasons).reduce((sum, [, faults]) => sum + faults.length, 0)
  return `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

function someOf(places: readonly string[], most: number): string {
  const more = places.length - most
  return `${places.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
