import { AppError } from '#domain/error.ts'
import { operationId, type OperationId, recordId, type RunId } from '#domain/ids.ts'
import { changeSetIdsOf, type Operation, originalId, type PlannedOperation } from '#domain/operation.ts'
import type { Run, WantedWork } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { operationPages } from '#store/ledger/read-operations.ts'
import { notAsked, type PlanChoices, type PlannedOperations } from './plan-operations.ts'

/** What a run has of a work: its last record, and the change sets that all of its records have made. */
export type KnownWork = Pick<Operation, 'operationId' | 'status' | 'outcome' | 'bundle' | 'node' | 'itemId'> & {
  changeSetIds: string[]
}
export type KnownWorks = ReadonlyMap<OperationId, KnownWork>

/** Says what a generation is to do, by the first records of the works. `again`: those that it is to do once more. */
type Again = Pick<PlanChoices, 'only' | 'unwell'> & { known: KnownWorks; again: ReadonlySet<OperationId> }

const well = new Set<string>(['succeeded', 'unchanged'])

/**
 * Reads what a reopened run is to do once more: what its reopening names, what failed with one of the codes, else all that did not end well,
 * with what was not planned before where that is wanted. Everything for a run that was never reopened. What this generation has planned itself
 * does not count: a repeated job plans the same. INTAKE_007 when nothing failed with the codes.
 */
export async function workAgain(
  { runId, wanted, generation }: Run,
  ledger: Pick<Ledger, 'listOperations'>,
): Promise<Again> {
  if (wanted === null) return { known: new Map(), again: new Set() }
  const { known, workOf } = await knownWorks(runId, generation, ledger)
  return { known, ...wantedOf(runId, wanted, { known, workOf }) }
}

/** Reads the works of a run by their first records, and which work each record is of, without those of the generation that is planned now. */
export async function knownWorks(runId: RunId, own: number | undefined, ledger: Pick<Ledger, 'listOperations'>) {
  const known = new Map<OperationId, KnownWork>()
  const workOf = new Map<OperationId, OperationId>()
  for await (const page of operationPages(ledger, runId)) {
    for (const record of page) {
      if (record.generation === own) continue
      const work = originalId(record)
      const made = record.outcome === null ? [] : changeSetIdsOf(record.outcome)
      workOf.set(record.operationId, work)
      const changeSetIds = [...(known.get(work)?.changeSetIds ?? []), ...made]
      const { operationId: last, status, outcome, bundle, node, itemId } = record
      known.set(work, { operationId: last, status, outcome, bundle, node, itemId, changeSetIds })
    }
  }
  return { known, workOf }
}

function wantedOf(
  runId: RunId,
  { operations, codes, unplanned }: WantedWork,
  { known, workOf }: Awaited<ReturnType<typeof knownWorks>>,
): Omit<Again, 'known'> {
  const named = operations && new Set(operations.map((id) => workOf.get(id) ?? id))
  if (named !== undefined) return { only: named, again: named }
  const unwell = new Map([...known].filter(([, { status }]) => !well.has(status)))
  const has = (id: OperationId) => unwell.has(id) || (unplanned === true && !known.has(id))
  if (codes === undefined) return { only: { has }, again: new Set(unwell.keys()) }
  const failed = new Set([...unwell].flatMap(([id, work]) => (hasFailedWith(codes, work) ? [id] : [])))
  if (failed.size > 0) return { only: failed, unwell, again: failed }
  throw new AppError('INTAKE_007', `no operation of run "${runId}" failed with ${codes.join(' or ')}`)
}

function hasFailedWith(codes: readonly string[], { status, outcome }: KnownWork): boolean {
  return (status === 'failed' || status === 'blocked') && codes.includes(outcome?.errorCode ?? '')
}

const mostReasons = 5

/**
 * Says how many of the works that are to be done once more are not planned, and why; undefined where all are. INTAKE_007 where none is, unless
 * rejections alone have asked for them.
 */
export function lostWork(
  again: ReadonlySet<OperationId>,
  { operations, leftOut }: PlannedOperations,
  { wanted }: Pick<Run, 'wanted'>,
): string | undefined {
  const planned = new Set(operations.map((operation) => operation.operationId))
  const lost = [...again].filter((id) => !planned.has(id))
  if (lost.length === 0) return undefined
  const reasons = new Map<OperationId, string>()
  for (const { bundle, node, reason } of leftOut.filter((left) => left.reason !== notAsked)) {
    reasons.set(operationId(node.nodeId, bundle), reason).set(operationId(node.nodeId, bundle, 'mechanical'), reason)
  }
  const byReason = Map.groupBy(lost, (id) => reasons.get(id) ?? 'the agents or their settings have changed')
  const commonest = [...byReason].toSorted(([, left], [, right]) => right.length - left.length).slice(0, mostReasons)
  const why = commonest.map(([reason, ids]) => `${reason} (${ids.length})`).join(', ')
  if (operations.length === 0 && wanted?.byDecisions !== true)
    throw new AppError('INTAKE_007', `none of the operations to retry is planned any more: ${why}`)
  const count = again.size === 1 ? 'the operation' : `${lost.length} of the ${again.size} operations`
  return `${count} to retry ${lost.length === 1 ? 'is' : 'are'} not planned any more: ${why}`
}

/** Returns the planned works as records of this generation: each repeats the last record of its work, if there is one. */
export function asRecords(
  planned: readonly PlannedOperation[],
  known: KnownWorks,
  { generation }: Pick<Run, 'generation'>,
): PlannedOperation[] {
  const idOf = (work: OperationId) => (known.has(work) ? recordId(work, generation) : work)
  return planned.map((operation) => {
    const { operationId: work, after, afterAny } = operation
    const before = known.get(work)
    const waits = { after: after.map(idOf), ...(afterAny && { afterAny: afterAny.map(idOf) }) }
    if (before === undefined) return { ...operation, ...waits }
    const of = { operationId: work, supersedes: before.operationId, because: 'asked' } as const
    const repeats = { ...of, changeSetIds: [...new Set(before.changeSetIds)] }
    return { ...operation, ...waits, operationId: idOf(work), repeats }
  })
}
