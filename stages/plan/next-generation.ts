import { AppError } from '#domain/error.ts'
import { type OperationId, recordId } from '#domain/ids.ts'
import { changeSetIdsOf, type Operation, originalId, type PlannedOperation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { operationPages } from '#store/ledger/read-operations.ts'
import type { PlanChoices } from './plan-operations.ts'

/** What a run has of a work: its last record, and the change sets that all of its records have made. */
type KnownWork = Pick<Operation, 'operationId' | 'status' | 'outcome'> & { changeSetIds: string[] }
export type KnownWorks = ReadonlyMap<OperationId, KnownWork>

/** Says what a generation is to do, by the first records of the works. `isAsked`: there is something that it must find to do. */
type Again = Pick<PlanChoices, 'only' | 'unwell'> & { known: KnownWorks; isAsked: boolean }

const well = new Set<string>(['succeeded', 'unchanged'])

/**
 * Reads what a reopened run is to do once more: what its reopening names, what failed with one of the codes, else all that did not end well,
 * with what was not planned before where that is wanted. Everything for a run that was never reopened. What this generation has planned itself
 * does not count: a repeated job plans the same. INTAKE_007 when nothing failed with the codes.
 */
export async function workAgain(
  { runId, wanted, generation: own }: Run,
  ledger: Pick<Ledger, 'listOperations'>,
): Promise<Again> {
  const known = new Map<OperationId, KnownWork>()
  if (wanted === null) return { known, isAsked: false }
  const workOf = new Map<OperationId, OperationId>()
  for await (const page of operationPages(ledger, runId)) {
    for (const { repeats, operationId, generation, status, outcome } of page) {
      if (generation === own) continue
      const work = originalId({ repeats, operationId })
      const made = outcome === null ? [] : changeSetIdsOf(outcome)
      workOf.set(operationId, work)
      known.set(work, {
        operationId,
        status,
        outcome,
        changeSetIds: [...(known.get(work)?.changeSetIds ?? []), ...made],
      })
    }
  }
  const { operations, codes, unplanned, byDecisions } = wanted
  const asked = operations && new Set(operations.map((id) => workOf.get(id) ?? id))
  if (asked !== undefined) return { known, only: asked, isAsked: asked.size > 0 && byDecisions !== true }
  const unwell = new Map([...known].filter(([, { status }]) => !well.has(status)))
  const has = (id: OperationId) => unwell.has(id) || (unplanned === true && !known.has(id))
  if (codes === undefined) return { known, only: { has }, isAsked: unwell.size > 0 }
  const failed = [...unwell].filter(([, one]) => hasFailedWith(codes, one))
  if (failed.length > 0) return { known, only: new Set(failed.map(([id]) => id)), unwell, isAsked: true }
  throw new AppError('INTAKE_007', `no operation of run "${runId}" failed with ${codes.join(' or ')}`)
}

function hasFailedWith(codes: readonly string[], { status, outcome }: KnownWork): boolean {
  return (status === 'failed' || status === 'blocked') && codes.includes(outcome?.errorCode ?? '')
}

/** Returns the planned works as records of this generation: each repeats the last record of its work, if there is one. */
export function asRecords(
  planned: readonly PlannedOperation[],
  known: KnownWorks,
  { generation }: Run,
): PlannedOperation[] {
  const idOf = (work: OperationId) => (known.has(work) ? recordId(work, generation) : work)
  return planned.map((operation) => {
    const { operationId, after, afterAny } = operation
    const before = known.get(operationId)
    const waits = { after: after.map(idOf), ...(afterAny && { afterAny: afterAny.map(idOf) }) }
    if (before === undefined) return { ...operation, ...waits }
    const { operationId: supersedes, changeSetIds } = before
    const repeats = { operationId, supersedes, because: 'asked' as const, changeSetIds: [...new Set(changeSetIds)] }
    return { ...operation, ...waits, operationId: idOf(operationId), repeats }
  })
}
