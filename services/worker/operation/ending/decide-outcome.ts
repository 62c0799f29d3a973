import { changeSetId, type ChangeSet } from '#domain/change-set.ts'
import type { ErrorCode } from '#domain/error.ts'
import type { Outcome } from '#domain/operation.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { Ending } from '../../agent/run-agent.ts'
import { clip } from '../../tools/clip.ts'
import { evidenceFault } from '../proof/evidence-fault.ts'
import type { Proof } from '../proof/prove-changes.ts'

/** How the operation ended, without what it cost and where its record lies. */
export type Verdict = Pick<Outcome, 'status' | 'summary' | 'errorCode' | 'phase' | 'reason'>

export type Decided = { verdict: Verdict; changeSet: ChangeSet | null }

/**
 * The outcome of an attempt: what the agent said, held against what it did. A success without a change is `unchanged`;
 * a change counts only with all the evidence its bundle asks for.
 */
export function decideOutcome(
  attempt: Pick<Attempt, 'operationId' | 'bundle' | 'node'>,
  ending: Ending,
  { changes, evidence, fixedFirst = 0 }: Proof & { fixedFirst?: number },
): Decided {
  if (ending.kind === 'stopped') return stopped(ending)
  const { status, summary, error } = ending.submission
  if (status === 'failed') return failed('AGENT_011', 'submission', error ?? summary)
  // What a program fixed before the agent began stays, also where the agent has nothing to add.
  if ((status === 'skipped' && fixedFirst === 0) || changes.length === 0)
    return { verdict: { status: 'unchanged', summary }, changeSet: null }
  const fault = evidenceFault(evidence)
  if (fault !== undefined) return failed(fault.code, 'submission', fault.reason)
  const { operationId, bundle, node } = attempt
  const files = [...changes]
  const set = { changeSetId: changeSetId(operationId, files), operationId, bundle, nodeId: node.nodeId, files }
  return { verdict: { status: 'succeeded', summary }, changeSet: { ...set, evidence: [...evidence] } }
}

function stopped({ code, phase, reason }: Extract<Ending, { kind: 'stopped' }>): Decided {
  const decided = failed(code, phase, reason)
  if (code !== 'AGENT_010') return decided
  return { ...decided, verdict: { ...decided.verdict, status: 'cancelled' } }
}

/** An outcome lies in Redis; what a server or a model said whole is in the attempt's record. */
const maxReason = 4000

function failed(errorCode: ErrorCode, phase: string, reason: string): Decided {
  const told = { summary: reason.slice(0, 500), reason: clip(reason, maxReason) }
  return { verdict: { status: 'failed', ...told, errorCode, phase }, changeSet: null }
}
