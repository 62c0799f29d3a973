import { z } from 'zod'
import type { Event } from '#domain/event.ts'
import { endedOperationStatuses, type EndedOperationStatus } from '#domain/operation.ts'
import type { ErrorPolicyName } from '#domain/run.ts'
import type { Invariant, Violation } from './violation.ts'

/** What the events alone say of an operation. `unseen`: nothing yet, so pending or ready. */
export type FoldedStatus = 'unseen' | 'ready' | 'dispatched' | 'running' | EndedOperationStatus
type Folded = { status: FoldedStatus; attempt: number }

export type OperationsFold = {
  take(event: Event): void
  statusOf(operationId: string): FoldedStatus
  violations: readonly Violation[]
}

const EndedData = z.object({ status: z.enum(endedOperationStatuses) })
const AttemptData = z.object({ attempt: z.int() })
const CauseData = z.object({ cause: z.string() })

/**
 * Follows every operation through the run's events, taken in order, and notes what must not happen (invariants 3 to 5).
 */
export function foldOperations(plan: {
  /** What each operation waits for; an operation that is not in it was never planned. */
  waitsFor: ReadonlyMap<string, readonly string[]>
  policy: ErrorPolicyName
}): OperationsFold {
  const states = new Map<string, Folded>()
  const violations: Violation[] = []
  const stateOf = (id: string): Folded => states.get(id) ?? { status: 'unseen', attempt: 0 }

  function take(event: Event): void {
    const id = event.operationId
    if (id === undefined) return
    const blame = (invariant: Invariant, what: string) =>
      void violations.push({ invariant, message: `event ${event.seq} ${event.event} of operation ${id}: ${what}` })
    const before = stateOf(id)
    if (!plan.waitsFor.has(id)) blame(2, 'the operation was never planned')
    const after = step(event, before, blame)
    if (event.event === 'operation.started') checkDependencies(id, blame)
    if (event.event === 'operation.skipped') checkCause(event, id, blame)
    states.set(id, after)
  }

  function checkDependencies(id: string, blame: Blame): void {
    const early = plan.waitsFor.get(id)?.filter((other) => !lets(stateOf(other).status, plan.policy)) ?? []
    for (const other of early) blame(5, `started although ${other}, which it waits for, is ${stateOf(other).status}`)
  }

  function checkCause(event: Event, id: string, blame: Blame): void {
    const data = CauseData.safeParse(event.data)
    if (!data.success) return blame(5, 'names no cause')
    if (endedStatusOf(event) === 'cancelled') return
    const { cause } = data.data
    if (plan.waitsFor.get(id)?.includes(cause) !== true) blame(5, `names ${cause}, which it does not wait for`)
    else if (!isEnded(stateOf(cause).status) || isWell(stateOf(cause).status))
      blame(5, `names ${cause}, which is ${stateOf(cause).status}`)
  }

  return { take, statusOf: (id) => stateOf(id).status, violations }
}

type Blame = (invariant: Invariant, what: string) => void

function step(event: Event, before: Folded, blame: Blame): Folded {
  const { status, attempt } = before
  switch (event.event) {
    case 'operation.queued':
      if (status !== 'unseen' && status !== 'ready') blame(3, `it was ${status}`)
      return { status: 'dispatched', attempt }
    case 'operation.started': {
      if (status !== 'dispatched' && status !== 'ready') blame(3, `it was ${status}`)
      const started = AttemptData.safeParse(event.data).data?.attempt
      if (started !== attempt + 1) blame(3, `attempt ${started} after attempt ${attempt}`)
      return { status: 'running', attempt: attempt + 1 }
    }
    case 'operation.retried':
      if (status !== 'running') blame(3, `it was ${status}`)
      return { status: 'ready', attempt }
    case 'operation.ended':
      if (status !== 'running') blame(3, `it was ${status}`)
      return { status: endedStatusOf(event) ?? status, attempt }
    case 'operation.skipped':
      if (status === 'running' || isEnded(status)) blame(3, `it was ${status}`)
      return { status: endedStatusOf(event) ?? status, attempt }
    default:
      if (status !== 'running') blame(4, `it was ${status}, not running`)
      return before
  }
}

function endedStatusOf(event: Event): EndedOperationStatus | undefined {
  return EndedData.safeParse(event.data).data?.status
}

function isEnded(status: FoldedStatus): boolean {
  return endedOperationStatuses.some((ended) => ended === status)
}

function isWell(status: FoldedStatus): boolean {
  return status === 'succeeded' || status === 'unchanged'
}

/** Whether an operation in this state lets its dependents start. */
function lets(status: FoldedStatus, policy: ErrorPolicyName): boolean {
  return policy === 'skip_downstream' ? isWell(status) : isEnded(status)
}
