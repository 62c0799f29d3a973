import { changeSetId, type ChangeSet, type FileChange } from '#domain/change-set.ts'
import type { ErrorCode } from '#domain/error.ts'
import type { Outcome } from '#domain/operation.ts'
import type { Attempt } from '#ledger/attempt.ts'
import type { Ending } from '../../agent/run-agent.ts'
import { clip } from '../../tools/shorten.ts'
import { evidenceFault, type Proof } from './prove-changes.ts'

/** The outcome without its cost and the key of its record. */
export type Verdict = Pick<Outcome, 'status' | 'summary' | 'errorCode' | 'phase' | 'reason'>

export type Decided = { verdict: Verdict; changeSet: ChangeSet | null }

/**
 * Decides the outcome of an attempt from its ending and its changes. A success without a change is `unchanged`; a change
 * counts only with all the evidence that its bundle asks for.
 */
export function decideOutcome(
  attempt: Changing,
  ending: Ending,
  { changes, evidence, fixedFirst = 0 }: Proof & { fixedFirst?: number },
): Decided {
  if (ending.kind === 'stopped') return stopped(ending)
  const { status, summary, error } = ending.submission
  if (status === 'failed') return failed('AGENT_011', 'submission', error ?? summary)
  // Lint fixes made before the agent began count even if the agent had nothing to add.
  if ((status === 'skipped' && fixedFirst === 0) || changes.length === 0)
    return { verdict: { status: 'unchanged', summary }, changeSet: null }
  const fault = evidenceFault(evidence)
  if (fault !== undefined) return failed(fault.code, 'submission', fault.reason)
  const changeSet = changeSetOf(attempt, [...changes], { evidence: [...evidence] })
  return { verdict: { status: 'succeeded', summary }, changeSet }
}

type Changing = Pick<Attempt, 'operationId' | 'bundle' | 'node'>

export function changeSetOf(
  { operationId, bundle, node }: Changing,
  files: FileChange[],
  proved: Pick<ChangeSet, 'rules' | 'evidence'>,
): ChangeSet {
  return { changeSetId: changeSetId(operationId, files), operationId, bundle, nodeId: node.nodeId, files, ...proved }
}

function stopped({ code, phase, reason }: Extract<Ending, { kind: 'stopped' }>): Decided {
  const decided = failed(code, phase, reason)
  if (code !== 'AGENT_010') return decided
  return { ...decided, verdict: { ...decided.verdict, status: 'cancelled' } }
}

/** Outcomes are stored in Redis, so their texts are short; the attempt's record has the whole text. */
const maxReason = 4000

function failed(errorCode: ErrorCode, phase: string, reason: string): Decided {
  const texts = { summary: reason.slice(0, 500), reason: clip(reason, maxReason) }
  return { verdict: { status: 'failed', ...texts, errorCode, phase }, changeSet: null }
}
