import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { runKeys } from './keys.ts'
import { expectKnownRun, runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('plan', 'keys')
const PlanAnswer = z.enum(['planned', 'already', 'refused'])
export type PlanAnswer = z.infer<typeof PlanAnswer>

/** The most operations one slice may hold: a script must not keep Redis from its other clients. */
export const maxSliceOperations = 1_000

export type PlanSlice = {
  /** 0, 1, 2 …; planning again must cut the same slices. */
  slice: number
  /** Each only waits for operations of this slice or an earlier one. */
  operations: readonly PlannedOperation[]
  last: boolean
  /** Hash of the whole plan: all slices of a run belong to one plan. */
  planHash?: string
}

/**
 * Adds a slice of operations: pending, or ready when they wait for nothing. A slice that was added before changes
 * nothing (`already`); an ended or stopped run is `refused`. Three faults of the planner throw a RangeError: a slice
 * out of order, a slice for a run that executes already (operations it waits for may have ended), and a dependency that
 * was not planned. RUN_008 for a slice of another plan than the first one's, as a new version of bundles or planner
 * makes it. Only after the last slice can the run be done.
 */
export async function plan(store: LedgerStore, runId: RunId, slice: PlanSlice): Promise<PlanAnswer> {
  if (slice.operations.length > maxSliceOperations) throw new RangeError(`more than ${maxSliceOperations} in one slice`)
  const keys = runKeys(store.namespace, runId)
  const ids = slice.operations.map((operation) => operation.operationId)
  const dependencies = [...new Set(slice.operations.flatMap((operation) => operation.after))]
  const position = new Map(dependencies.map((id, index) => [id, index + 1]))
  const answer = await script(
    store.redis,
    [...keys.scripted, ...ids.map(keys.operation), ...ids.map(keys.node), ...dependencies.map(keys.after)],
    [
      slice.slice,
      slice.last ? '1' : '0',
      slice.planHash ?? '',
      slice.operations.length,
      dependencies.length,
      ...dependencies,
      ...slice.operations.flatMap((operation) => operationArgs(operation, position)),
    ],
  )
  const known = expectKnownRun(runId, answer)
  if (known === 'another_plan') {
    const message = `Run "${runId}" was planned before with other agents or query packs: submit it again.`
    throw new AppError('RUN_008', message)
  }
  const planned = PlanAnswer.safeParse(known)
  if (!planned.success) throw new RangeError(`slice ${slice.slice} of run ${runId} cannot be planned: ${String(known)}`)
  return planned.data
}

function operationArgs(operation: PlannedOperation, position: ReadonlyMap<string, number>): (string | number)[] {
  const waitsFor = [...new Set(operation.after)].flatMap((id) => position.get(id) ?? [])
  return [
    operation.operationId,
    operation.bundle,
    operation.bundleHash,
    operation.node.nodeId,
    JSON.stringify(operation.node),
    operation.priority,
    operation.work,
    waitsFor.length,
    ...waitsFor,
  ]
}
