import { deciderOf } from '#domain/decision.ts'
import { unreachable } from '#domain/error.ts'
import type { Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import { type Conflict, type ConflictingSet, conflictView } from '#store/objects/composition.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { DecidedCounts, DecisionsView, RefusedView } from '#schemas/decision-schema.ts'
import { NothingDecided } from '../../http/problem.ts'
import {
  type Decided,
  type DecidedSet,
  nameOfSet,
  type Refusal,
  type SetInWay,
  shownRefusals,
} from '#stages/review/decide.ts'
import { decisionView } from './run-changes.ts'

const shownDecisions = 1_000

/** NothingDecided, with the first refusal's code, when there is nothing else. */
export function decisionsView(
  { runId }: Pick<Run, 'runId'>,
  { decisions, refused, leftAlone }: Decided,
): DecisionsView {
  const [first] = refused
  const shown = refused.slice(0, shownRefusals).map(refusedView)
  if (first !== undefined && decisions.size + leftAlone === 0) {
    throw new NothingDecided({ code: first.errorCode, detail: detailOf(first) }, { shown, count: refused.length })
  }
  return {
    run_id: runId,
    made: [...decisions.values()].filter(({ isMade }) => isMade).length,
    by_agent: countsByAgent([...decisions.values()], refused),
    decisions: [...decisions].slice(0, shownDecisions).map(([id, { operation, isMade, was, becauseOf, decision }]) => ({
      change_set_id: id,
      ...authorView(operation),
      verdict: decision?.verdict ?? 'pending',
      made: isMade,
      was,
      ...(becauseOf === undefined ? {} : { because_of: becauseOf }),
      decision: decision && decisionView(decision),
    })),
    left_alone: leftAlone,
    retry: null,
    refused_count: refused.length,
    refused: shown,
  }
}

function countsByAgent(decided: readonly DecidedSet[], refused: readonly Refusal[]): Record<string, DecidedCounts> {
  const counts = new Map<string, DecidedCounts>()
  const countsOf = ({ bundle }: Pick<Operation, 'bundle'>) =>
    getOrMake(counts, bundle, () => ({ made: 0, before: 0, refused: 0 }))
  for (const { operation, isMade } of decided) countsOf(operation)[isMade ? 'made' : 'before'] += 1
  for (const { operation } of refused) if (operation !== undefined) countsOf(operation).refused += 1
  return Object.fromEntries(counts)
}

function authorView({ operationId, bundle, node }: Operation) {
  return { operation_id: operationId, agent: bundle, path: node.path, qualified_name: node.qualifiedName }
}

function refusedView(refusal: Refusal): RefusedView {
  const { changeSetId, operation, errorCode, conflict, withDecision, blocked, decision } = refusal
  return {
    change_set_id: changeSetId,
    ...(operation === undefined ? {} : authorView(operation)),
    error_code: errorCode,
    detail: detailOf(refusal),
    ...(conflict === undefined ? {} : { conflict: conflictView(conflict) }),
    ...(withDecision === undefined ? {} : { with_decision: decisionView(withDecision) }),
    ...(blocked === undefined ? {} : blockedView(blocked.by)),
    ...(decision === undefined ? {} : { decision: decisionView(decision) }),
  }
}

const shownInWay = 20

function blockedView(sets: readonly SetInWay[]): Pick<RefusedView, 'blocked_by' | 'blocked_by_count'> {
  const shown = sets.slice(0, shownInWay).map(({ changeSetId, operation, verdict }) => {
    return { change_set_id: changeSetId, ...(operation === undefined ? {} : authorView(operation)), verdict }
  })
  return { blocked_by: shown, blocked_by_count: sets.length }
}

function detailOf(refusal: Refusal): string {
  const { changeSetId, errorCode, decision } = refusal
  switch (errorCode) {
    case 'RUN_004':
      return `The run has no change set "${changeSetId}".`
    case 'WORK_003':
      return decision === undefined
        ? `Nobody has decided on ${changeSetId} any more.`
        : `${deciderOf(decision)} has decided otherwise on ${changeSetId}: it is ${decision.verdict}.`
    case 'WORK_001':
    case 'WORK_002':
    case 'WORK_004':
    case 'WORK_007':
      return inTheWayDetail(refusal)
    default:
      return unreachable(errorCode)
  }
}

function inTheWayDetail(refusal: Refusal): string {
  const { changeSetId, operation, conflict, blocked } = refusal
  const name = nameOfSet(changeSetId, refusal)
  const detail = blocked === undefined ? conflictDetail(name, changeSetId, conflict) : blockedDetail(name, blocked)
  const isOlder = operation !== undefined && operation.supersededBy !== null
  return isOlder ? `${detail}. Its operation was tried again since: there may be a newer change` : detail
}

const namedInWay = 5

function blockedDetail(name: string, { verdict, by }: NonNullable<Refusal['blocked']>): string {
  const names = by.slice(0, namedInWay).map((set) => nameOfSet(set.changeSetId, set))
  const rest = by.length > namedInWay ? ` and ${by.length - namedInWay} more` : ''
  const others = `${names.join(', ')}${rest}`
  if (verdict === 'accepted') return `${name} cannot be accepted: it is built on what is not accepted: ${others}`
  return `${name} cannot be ${verdict === 'rejected' ? 'rejected' : 'taken back'}: built on it ${by.length === 1 ? 'is' : 'are'} ${others}`
}

function conflictDetail(name: string, changeSetId: string, conflict: Conflict | undefined): string {
  const itself = conflict === undefined || conflict.changeSetId === changeSetId
  const whose = itself ? '' : `${nameOf(conflict, conflict.changeSetId)}, on which it is built: `
  return `${name} cannot be accepted: ${whose}${conflict?.reason ?? ''}${placeOf(conflict)}`
}

function nameOf(set: ConflictingSet | undefined, changeSetId: string): string {
  const node = set?.node
  return node === undefined ? changeSetId : `${set?.agent ?? ''} ${node.path} ${node.qualifiedName} (${changeSetId})`
}

/** Says where the conflict is, and with what that is accepted. */
function placeOf(conflict: Conflict | undefined): string {
  if (conflict === undefined) return ''
  const { path, lines, with: against } = conflict
  const at = lines === undefined ? path : `${path}:${lines.first}-${lines.last}`
  return against === undefined
    ? ` (${at})`
    : ` (${at}), with ${nameOf(against, against.changeSetId)}, which is accepted`
}
