import { type ChangeSet, type Evidence, wireEvidence } from '#domain/change-set.ts'
import type { Outcome } from '#domain/operation.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { putAttemptRecord, putUnfinishedAttempt } from '#store/objects/stored-records.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { type AttemptRecord, changeSetsOf } from '#store/objects/attempt-record.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type CodeFinding, placeOf, wireFinding } from '#domain/code-finding.ts'
import { type Report, reportsIn } from '#domain/reports.ts'
import type { AgentEvent } from '../agent/journal.ts'
import type { Suspension } from '../agent/run-agent.ts'
import type { ToolsBeside } from '../tools/programs/tools-beside.ts'
import { type FinishDeps, finishTool } from './finish-tool.ts'
import { decideOutcome, type OperationEnding } from './decide-outcome.ts'
import { onSnapshot } from './on-snapshot.ts'
import { type LintDeps, lintNode } from '../tools/lint/lint-node.ts'
import { attemptSoFar, costSoFar, type RunningAttempt, unfinishedSoFar } from '../attempt/running-attempt.ts'
import { undefinedOn } from '#domain/error.ts'

export type SettleDeps = {
  ledger: Pick<Ledger, 'settle' | 'suspend'>
  objects: ObjectStore
  versions: Readonly<Record<string, string>>
}

/** Ends an attempt: proves its changes, decides the outcome, and commits it. */
export async function settleOperation(
  running: RunningAttempt,
  ending: OperationEnding,
  deps: SettleDeps & LintDeps,
  signal: AbortSignal,
): Promise<void> {
  running.journal.does('proof')
  const proof = mayChange(running, ending) ? await running.prove(signal) : { changes: [], evidence: [] }
  const { verdict, changeSet } = decideOutcome(running.attempt, ending, {
    ...proof,
    model: running.transcript.model,
    fixedFirst: running.fixedFirst,
    onSnapshot: (changes) => onSnapshot(running, changes),
  })
  const outcome = {
    ...verdict,
    ...(changeSet === null ? {} : { changeSetId: changeSet.changeSetId }),
    changedFiles: changeSet === null ? [] : changeSet.files.map((file) => file.path),
    ...((await leavesWork(running, verdict, deps)) && { leavesWork: true as const }),
    ...costSoFar(running),
  }
  const evidence = changeSet?.evidence ?? []
  await commitOutcome(running, { outcome, made: { changeSet }, details: detailsOf(ending), evidence }, deps)
}

/** Tells whether changes may come of it: of other endings nothing is proved, which may take running tests. */
function mayChange({ fixedFirst }: Pick<RunningAttempt, 'fixedFirst'>, ending: OperationEnding): boolean {
  if (ending.kind !== 'submitted') return false
  const { status } = ending.submission
  return status === 'success' || (status === 'skipped' && fixedFirst > 0)
}

function detailsOf(ending: OperationEnding): Record<string, unknown> {
  if (ending.kind !== 'submitted') return {}
  const { submission, claimedUnchanged } = ending
  const unchanged = claimedUnchanged.length === 0 ? {} : { claimed_unchanged: [...claimedUnchanged] }
  return { ...submission.details, ...unchanged }
}

export type Settlement = {
  outcome: Outcome
  made: Pick<AttemptRecord, 'changeSet' | 'changeSets' | 'leftAlone'>
  details: Record<string, unknown>
  evidence: readonly Evidence[]
}

/**
 * Stores everything the attempt did as one object, then commits outcome, result, events, counters and the operations that
 * became ready in one atomic command. A token that is no longer current is refused and leaves no trace. The events that say what the
 * attempt made and found come with that command, so that those of an attempt that ended before it are not in the run.
 */
export async function commitOutcome(
  running: RunningAttempt,
  { outcome, made, details, evidence }: Settlement,
  deps: SettleDeps,
): Promise<void> {
  const { attempt, journal, bundle } = running
  const { findings, artifacts, escalations, events: reported } = reportsOf(running)
  const ended = findings.length === 0 ? outcome : { ...outcome, findings: findings.length }
  const record = { ...attemptSoFar(running, deps.versions), ...made, outcome: ended }
  const recordHash = await putAttemptRecord(deps.objects, attempt.projectId, record)
  const sets = changeSetsOf({ ...made, changeSet: made.changeSet })
  const { n, events } = await journal.close([...sets.map(changeSetEvent), ...reported])
  const check = { valid: true, warnings: bundle.bundle.warnings }
  // The part of the results stream that the ledger does not know.
  const proved = { details: { ...details, grail_check: check }, evidence: evidence.map(wireEvidence) }
  const result = { ...proved, findings, artifacts }
  const builtOn = setsBySupport(sets)
  await deps.ledger.settle(attempt, n, { outcome: { ...ended, recordHash }, events, escalations, result, builtOn })
}

function setsBySupport(sets: readonly ChangeSet[]): Map<string, string[]> {
  const built = new Map<string, string[]>()
  for (const { changeSetId, builtOn = [] } of sets) {
    for (const id of builtOn) getOrMake(built, id, () => []).push(changeSetId)
  }
  return built
}

function changeSetEvent(set: ChangeSet): AgentEvent {
  const files = set.files.map(({ path, kind }) => ({ path, kind }))
  const evidence = set.evidence.map(({ check, of, ok }) => ({ check, ...(of === undefined ? {} : { of }), ok }))
  const rules = set.rules === undefined ? {} : { rules: set.rules }
  const built = set.builtOn === undefined ? {} : { built_on: set.builtOn }
  const data = { change_set_id: set.changeSetId, ...rules, ...built, files, evidence }
  return { event: 'change_set.created', phase: 'submission', data }
}

/** Stores the attempt's state as one object, then waits and frees the slot in one command. A tool goes on beside. The answer makes it ready again. */
export async function suspendOperation(
  running: RunningAttempt,
  { loop, waiting, ...awaits }: Suspension,
  deps: SettleDeps & FinishDeps & { beside: Pick<ToolsBeside, 'keep'> },
): Promise<void> {
  const { ledger, objects, versions, beside } = deps
  const { attempt, journal, bundle, stopTool } = running
  const question = 'question' in awaits ? awaits.question : null
  const unfinished = { ...unfinishedSoFar(running, versions), question, loop, waiting }
  const since = Date.now()
  const recordHash = await putUnfinishedAttempt(objects, attempt.projectId, unfinished)
  const { n, events } = await journal.close()
  const stored = { recordHash, spent: costSoFar(running), events }
  if ('question' in awaits) {
    const answerWithinMs = bundle.bundle.file.limits.answer_within_s * 1000
    return void (await ledger.suspend(attempt, n, { ...stored, question: awaits.question, answerWithinMs }))
  }
  const [{ name: tool } = { name: '' }] = loop.calls
  const { kind } = await ledger.suspend(attempt, n, { ...stored, tool, turn: loop.turn })
  if (kind === 'lost') stopTool()
  else beside.keep(finishTool({ attempt, entry: awaits.entry, unfinished, recordHash, since, stopTool }, deps))
}

/** Returns what the attempt has reported, as the results stream has it, and as events. */
export function reportsOf({ transcript }: Pick<RunningAttempt, 'transcript'>) {
  const reports = reportsIn(transcript.toolRuns.flatMap(({ externals }) => externals))
  return {
    findings: reports.flatMap((one) => (one.kind === 'finding' ? findingData(one) : [])),
    artifacts: reports.flatMap((one) => (one.kind === 'artifact' ? one.artifact : [])),
    escalations: reports.flatMap((one) => (one.kind === 'escalation' ? one.escalation : [])),
    events: reports.map(reportEvent),
  }
}

function reportEvent(report: Report): AgentEvent {
  const phase = 'submission'
  switch (report.kind) {
    case 'finding':
      return { event: 'finding.reported', phase, data: findingData(report) }
    case 'learning':
      return { event: 'learning.reported', phase, data: { ...report.learning, evidence_refs: report.evidence_refs } }
    case 'escalation':
      return { event: 'escalation.raised', phase, data: { ...report.escalation, evidence_refs: report.evidence_refs } }
    case 'artifact':
      return { event: 'artifact.reported', phase, data: report.artifact }
  }
}

function findingData({ finding, evidence_refs: refs }: { finding: CodeFinding; evidence_refs: readonly string[] }) {
  const { line_text: _, ...shown } = wireFinding(finding)
  return { ...shown, evidence_refs: [placeOf(finding), ...refs] }
}

type Worked = Pick<RunningAttempt, 'bundle' | 'isGone' | 'target' | 'workspace'>

/**
 * Tells whether what an operation was planned for is not proved to be done. Faults are looked for once more: an earlier operation may have mended
 * them, or this one only some. Of what else a bundle looks for, an operation that has changed nothing has done nothing.
 */
async function leavesWork(
  { bundle, isGone, target, workspace }: Worked,
  { status }: Pick<Outcome, 'status'>,
  deps: LintDeps,
): Promise<boolean> {
  const { when } = bundle.bundle.file
  if (isGone) return false
  if (status !== 'succeeded' && status !== 'unchanged') return true
  if (when === 'always' || !workspace.exists(target.node.path)) return false
  if (when !== 'lint_faults') return status === 'unchanged'
  // What it has changed and does not submit is thrown away, and what it has moved elsewhere is not looked for.
  if (status === 'unchanged' ? (await workspace.changes()).length > 0 : !workspace.exists(target.node.path)) return true
  const lint = await lintNode(target, deps).catch(undefinedOn('TOOL_006'))
  return lint?.diagnostics.length !== 0
}
