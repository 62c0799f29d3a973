import type { FileChange } from '#domain/change-set.ts'
import type { Evidence } from '#domain/evidence.ts'
import type { Outcome } from '#domain/operation.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { ResultDetail } from '#ledger/result.ts'
import { putAttemptRecord } from '#objects/stored-records.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import type { EvidenceChecker } from '../evidence/evidence-checker.ts'
import type { Ending } from '../agent/run-agent.ts'
import { attemptSoFar } from './attempt-so-far.ts'
import { decideOutcome, type Decided } from './decide-outcome.ts'
import { costSoFar, type RunningAttempt } from './running-attempt.ts'

export type SettleDeps = {
  ledger: Pick<Ledger, 'settle'>
  objects: ObjectStore
  evidence: EvidenceChecker
  /** Versions of what took part, for the record: linter, sandbox, this program. */
  versions: Readonly<Record<string, string>>
}

/**
 * Ends an attempt: its changes are checked, everything it did is stored as one object, then one atomic command commits
 * outcome, events, counters and what became ready. A token that is no longer current is refused and leaves no trace.
 */
export async function settleOperation(running: RunningAttempt, ending: Ending, deps: SettleDeps): Promise<void> {
  const { attempt, journal } = running
  const changes = ending.kind === 'submitted' ? await running.workspace.changes() : []
  const evidence = await evidenceOf(running, changes, deps)
  const decided = decideOutcome(attempt, ending, changes, evidence)
  announceChangeSet(running, decided)
  const outcome = outcomeOf(running, decided)
  const record = { ...attemptSoFar(running, deps.versions), changeSet: decided.changeSet, outcome }
  const recordHash = await putAttemptRecord(deps.objects, attempt.projectId, record)
  const { n, events } = await journal.close()
  const result = resultOf(running, decided, ending, evidence)
  await deps.ledger.settle(attempt, n, { outcome: { ...outcome, recordHash }, events, result })
}

async function evidenceOf(
  { workspace, bundle, attempt }: RunningAttempt,
  changes: readonly FileChange[],
  deps: SettleDeps,
): Promise<Evidence[]> {
  const evidence: Evidence[] = []
  for (const change of changes) {
    if (change.kind === 'delete') continue
    const after = await workspace.readText(change.path)
    const before = change.kind === 'edit' ? await workspace.readBase(change.path) : undefined
    const inNode = isInNode(change, attempt.node)
    const file = { path: change.path, before, after, inNode }
    evidence.push(...(await deps.evidence.check(file, bundle.bundle.file.evidence)))
  }
  return evidence
}

function isInNode(change: FileChange, node: RunningAttempt['attempt']['node']): boolean {
  const inRange = (edit: { start: number; end: number }) => edit.start >= node.startByte && edit.end <= node.endByte
  return change.kind === 'edit' && change.path === node.path && change.edits.every(inRange)
}

function announceChangeSet({ journal }: RunningAttempt, { changeSet }: Decided): void {
  if (changeSet === null) return
  const files = changeSet.files.map(({ path, kind }) => ({ path, kind }))
  const evidence = changeSet.evidence.map(({ check, ok }) => ({ check, ok }))
  const data = { change_set_id: changeSet.changeSetId, files, evidence }
  journal.emit({ event: 'change_set.created', phase: 'submission', data })
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
function resultOf(
  { bundle }: RunningAttempt,
  decided: Decided,
  ending: Ending,
  evidence: readonly Evidence[],
): Partial<ResultDetail> {
  const details = ending.kind === 'submitted' ? ending.submission.details : {}
  const check = { valid: true, warnings: bundle.bundle.warnings }
  return {
    details: { ...details, grail_check: check },
    evidence: decided.changeSet === null ? [] : [...evidence],
    findings: [],
    learnings: [],
    artifacts: [],
  }
}
