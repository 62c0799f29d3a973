import { changeSetId, type ChangeSet, type FileChange } from '#domain/change-set.ts'
import type { ErrorCode } from '#domain/error.ts'
import type { Evidence } from '#domain/evidence.ts'
import type { Outcome } from '#domain/operation.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { Ending } from '../agent/run-agent.ts'

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
  changes: readonly FileChange[],
  evidence: readonly Evidence[],
): Decided {
  if (ending.kind === 'stopped') return stopped(ending)
  const { status, summary, error } = ending.submission
  if (status === 'failed') return failed('AGENT_011', 'submission', error ?? summary)
  if (status === 'skipped' || changes.length === 0)
    return { verdict: { status: 'unchanged', summary }, changeSet: null }
  const missing = evidence.filter((one) => !one.ok)
  if (missing.length > 0) return failed(codeOf(missing), 'submission', missing.map(faultText).join('; '))
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

function failed(errorCode: ErrorCode, phase: string, reason: string): Decided {
  return { verdict: { status: 'failed', summary: reason.slice(0, 500), errorCode, phase, reason }, changeSet: null }
}

function codeOf(missing: readonly Evidence[]): ErrorCode {
  return missing.some((one) => one.check === 'parses') ? 'WORK_004' : 'WORK_005'
}

function faultText({ check, path, before, after, detail }: Evidence): string {
  const figures = before === undefined || after === undefined ? '' : ` (${before} before, ${after} after)`
  return `${check} failed for ${path}${figures}${detail === undefined ? '' : `: ${detail}`}`
}
