import { z } from 'zod'
import type { ItemId } from '#domain/agenda.ts'
import { AppError } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { runKeys } from './keys.ts'
import { runCommand } from './script.ts'
import type { LedgerStore } from './store.ts'
import { ownerOf, storedEvents } from './stored-events.ts'

const planScript = runCommand('plan', z.unknown())
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
  /** Is the hash of the whole plan: all slices of a run belong to one plan. */
  planHash?: string
  /** The generation that the plan is for; 1 by default. Refused in another one. */
  generation?: number
  /** The item of the agenda that is planned. It has slices of its own, and the next generation where the run has operations already. */
  item?: PlannedItem
}

/**
 * `version`: that of the agenda which has dispatched it. `reads`: a hash of what its nodes are of. `left`: works of it without an operation. `started`:
 * goes with its first slice.
 */
export type PlannedItem = {
  itemId: ItemId
  version: number
  reads: string
  objective: string
  left: number
  started: NewEvent
}

/**
 * Adds a slice of operations. `already`: nothing changes; `refused`: the run has ended or is stopped. RangeError for a slice out
 * of order or of a run that executes, and for a dependency that was not planned; RUN_008 for a slice of another plan than the
 * first one's. Only after the last slice can the run be done.
 */
export async function plan(store: LedgerStore, runId: RunId, slice: PlanSlice): Promise<PlanAnswer> {
  const events = slice.item === undefined || slice.slice > 0 ? [] : [slice.item.started]
  const known = await planSlice(store, runId, { ...slice, mode: slice.last ? '1' : '0', events })
  if (known === 'another_plan') {
    const message = `Run "${runId}" was planned before with other agents or query packs: submit it again.`
    throw new AppError('RUN_008', message)
  }
  const planned = PlanAnswer.safeParse(known)
  if (!planned.success) throw new RangeError(`slice ${slice.slice} of run ${runId} cannot be planned: ${String(known)}`)
  return planned.data
}

/**
 * Adds operations (1,000 at most) that repeat others to a run in review, with the event that says so: its next generation. If
 * somebody has begun that before, nothing changes. Refused for a run that is not in review, or is stopped.
 */
export async function planAgain(
  store: LedgerStore,
  runId: RunId,
  { event, ...more }: { operations: readonly PlannedOperation[]; event: NewEvent; generation: number },
): Promise<'planned' | 'refused'> {
  const known = await planSlice(store, runId, { ...more, slice: 0, mode: 'again', events: [event] })
  if (known === 'planned' || known === 'already') return 'planned'
  if (known === 'refused') return 'refused'
  throw new RangeError(`operations of run ${runId} cannot be repeated: ${String(known)}`)
}

type SentSlice = Pick<PlanSlice, 'slice' | 'operations' | 'planHash' | 'generation' | 'item'> & {
  mode: '0' | '1' | 'again'
  events: readonly NewEvent[]
}

async function planSlice(store: LedgerStore, runId: RunId, slice: SentSlice): Promise<unknown> {
  if (slice.operations.length > maxSliceOperations) throw new RangeError(`more than ${maxSliceOperations} in one slice`)
  const keys = runKeys(store.namespace, runId)
  const ids = slice.operations.map((operation) => operation.operationId)
  const dependencies = [...new Set(slice.operations.flatMap(({ after, afterAny = [] }) => [...after, ...afterAny]))]
  const position = new Map(dependencies.map((id, index) => [id, index + 1]))
  return planScript(
    store,
    runId,
    [
      slice.slice,
      slice.mode,
      slice.planHash ?? '',
      slice.generation ?? 1,
      slice.item?.itemId ?? '',
      slice.item?.version ?? '',
      slice.item?.reads ?? '',
      slice.item?.objective ?? '',
      slice.item?.left ?? '',
      slice.operations.length,
      dependencies.length,
      ...dependencies,
      ...slice.operations.flatMap((operation) => operationArgs(operation, position)),
      ...(await storedEvents(store, ownerOf(store, runId), slice.events)),
    ],
    [...ids.map(keys.operation), ...ids.map(keys.node), ...dependencies.map(keys.after)],
  )
}

function operationArgs(operation: PlannedOperation, position: ReadonlyMap<string, number>): (string | number)[] {
  const { afterAny = [], startsFrom = [], repeats } = operation
  const after = [...new Set(operation.after)]
  const any = [...new Set(afterAny)].filter((id) => !after.includes(id))
  const waitsFor = [...after.map((id) => position.get(id) ?? 0), ...any.map((id) => -(position.get(id) ?? 0))]
  return [
    operation.operationId,
    operation.bundle,
    operation.bundleHash,
    operation.node.nodeId,
    JSON.stringify(operation.node),
    operation.priority,
    operation.work,
    [...new Set([...after, ...any, ...startsFrom])].join(' '),
    repeats === undefined ? '' : JSON.stringify(repeats),
    waitsFor.length,
    ...waitsFor,
  ]
}
