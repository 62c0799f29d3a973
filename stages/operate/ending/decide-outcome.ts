import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import { changeSetId } from '#domain/ids.ts'
import type { ErrorCode } from '#domain/error.ts'
import { originalId, type Outcome } from '#domain/operation.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Ending } from '../agent/run-agent.ts'
import type { OnSnapshot } from './on-snapshot.ts'
import { clip } from '../tools/shorten.ts'
import { evidenceFault, type Proof } from './prove-changes.ts'

/** The outcome without its cost and the key of its record. */
export type Verdict = Pick<Outcome, 'status' | 'summary' | 'errorCode' | 'phase' | 'reason'>

/** Says how an operation's attempt came to its end; `gone`: its node is not there any more, so that it did not begin. */
export type OperationEnding = Ending | { kind: 'gone' }

export type Decided = { verdict: Verdict; changeSet: ChangeSet | null }

/** Decides the outcome of an attempt: without a change it is `unchanged`; a change counts only with all the evidence that its bundle asks for. */
export function decideOutcome(
  attempt: Changing,
  ending: OperationEnding,
  { changes, evidence, model, fixedFirst = 0, onSnapshot = (files) => ({ files: [...files] }) }: ProvedChanges,
): Decided {
  if (ending.kind === 'gone')
    return { verdict: { status: 'skipped', summary: goneReason, reason: goneReason }, changeSet: null }
  if (ending.kind === 'stopped') return stopped(ending)
  const { status, summary, error } = ending.submission
  if (status === 'failed') return failed('AGENT_011', 'submission', error ?? summary)
  // Lint fixes made before the agent began count even if the agent had nothing to add.
  if ((status === 'skipped' && fixedFirst === 0) || changes.length === 0)
    return { verdict: { status: 'unchanged', summary }, changeSet: null }
  const fault = evidenceFault(evidence)
  if (fault !== undefined) return failed(fault.code, 'submission', fault.reason)
  const changeSet = changeSetOf(attempt, onSnapshot(changes), { model, evidence: [...evidence] })
  return { verdict: { status: 'succeeded', summary }, changeSet }
}

type ProvedChanges = Proof & {
  model: string
  fixedFirst?: number
  onSnapshot?(changes: readonly FileChange[]): OnSnapshot
}

const goneReason = 'its code is not there any more: what it waited for has removed it'

type Changing = Pick<Attempt, 'operationId' | 'repeats' | 'bundle' | 'node'>

export function changeSetOf(
  attempt: Changing,
  changes: OnSnapshot,
  proved: Pick<ChangeSet, 'rules' | 'model' | 'evidence'>,
): ChangeSet {
  const { bundle, node } = attempt
  const operationId = originalId(attempt)
  const id = changeSetId(operationId, changes.files, changes.builtOn)
  return { changeSetId: id, operationId, bundle, nodeId: node.nodeId, ...changes, ...proved }
}

function stopped({ code, phase, reason }: Extract<Ending, { kind: 'stopped' }>): Decided {
  const decided = failed(code, phase, reason)
  const status = statusOfCode[code]
  return status === undefined ? decided : { ...decided, verdict: { ...decided.verdict, status } }
}

const statusOfCode: Partial<Record<ErrorCode, Verdict['status']>> = {
  AGENT_010: 'cancelled',
  TOOL_005: 'blocked',
  SETUP_001: 'blocked',
}

/** Outcomes are stored in Redis, so their texts are short; the attempt's record has the whole text. */
const maxReason = 4000

function failed(errorCode: ErrorCode, phase: string, reason: string): Decided {
  const texts = { summary: reason.slice(0, 500), reason: clip(reason, maxReason) }
  return { verdict: { status: 'failed', ...texts, errorCode, phase }, changeSet: null }
}
