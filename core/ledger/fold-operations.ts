import { z } from 'zod'
import type { Event } from '#domain/event.ts'
import { endedOperationStatuses, type EndedOperationStatus } from '#domain/operation.ts'
import type { ErrorPolicyName } from '#domain/run.ts'
import type { Invariant, Violation } from './violation.ts'

/** What the events alone say of an operation. `unseen`: nothing yet, so pending or ready. */
export type FoldedStatus = 'unseen' | 'ready' | 'dispatched' | 'running' | EndedOperationStatus

/** `announced`: how `operation.failed` or `operation.blocked` says that the attempt is about to end. */
type Folded = { status: FoldedStatus; attempt: number; dispatch: number; announced?: 'failed' | 'blocked' }

export type OperationsFold = {
  take(event: Event): void
  statusOf(operationId: string): FoldedStatus
  /** Those whose last attempt has not ended. */
  running(): string[]
  violations: readonly Violation[]
}

const EndedData = z.object({ status: z.enum(endedOperationStatuses) })
const AttemptData = z.object({ attempt: z.int() })
const QueuedData = z.object({ dispatch: z.int(), reason: z.string().optional() })
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
  let stoppedBy: string | undefined
  const statusOf = (id: string) => states.get(id)?.status ?? 'unseen'

  function take(event: Event): void {
    const id = event.operationId
    if (id === undefined) return
    const blame = (invariant: Invariant, what: string) =>
      void violations.push({ invariant, message: `event ${event.seq} ${event.event} of operation ${id}: ${what}` })
    if (!plan.waitsFor.has(id)) blame(2, 'the operation was never planned')
    const after = step(event, states.get(id) ?? { status: 'unseen', attempt: 0, dispatch: 0 }, blame)
    if (event.event === 'operation.started') checkDependencies(id, blame)
    if (event.event === 'operation.skipped') checkCause(event, id, blame)
    if (plan.policy === 'stop_run' && (after.status === 'failed' || after.status === 'blocked')) stoppedBy ??= id
    states.set(id, after)
  }

  function checkDependencies(id: string, blame: Blame): void {
    const early = plan.waitsFor.get(id)?.filter((other) => !lets(statusOf(other), plan.policy)) ?? []
    for (const other of early) blame(5, `started although ${other}, which it waits for, is ${statusOf(other)}`)
    if (stoppedBy !== undefined) blame(5, `started although ${stoppedBy} had stopped the run`)
  }

  function checkCause(event: Event, id: string, blame: Blame): void {
    const data = CauseData.safeParse(event.data)
    if (!data.success) return blame(5, 'names no cause')
    if (endedStatusOf(event) === 'cancelled') return
    const { cause } = data.data
    if (plan.policy === 'continue') blame(5, 'skipped in a run that continues after errors')
    else if (plan.waitsFor.get(id)?.includes(cause) !== true) blame(5, `names ${cause}, which it does not wait for`)
    else if (!isEnded(statusOf(cause)) || isWell(statusOf(cause)))
      blame(5, `names ${cause}, which is ${statusOf(cause)}`)
  }

  const running = () => [...states].filter(([, { status }]) => status === 'running').map(([id]) => id)
  return { take, statusOf, running, violations }
}

type Blame = (invariant: Invariant, what: string) => void

function step(event: Event, before: Folded, blame: Blame): Folded {
  const { status, attempt, dispatch } = before
  switch (event.event) {
    case 'operation.queued':
      return queued(event, before, blame)
    case 'operation.started': {
      if (status !== 'dispatched' && status !== 'ready') blame(3, `it was ${status}`)
      const started = AttemptData.safeParse(event.data).data?.attempt
      if (started !== attempt + 1) blame(3, `attempt ${started} after attempt ${attempt}`)
      return { status: 'running', attempt: attempt + 1, dispatch }
    }
    case 'operation.failed':
    case 'operation.blocked':
      if (status !== 'running') blame(4, `it was ${status}, not running`)
      return { ...before, announced: event.event === 'operation.failed' ? 'failed' : 'blocked' }
    case 'operation.retried':
      if (status !== 'running') blame(3, `it was ${status}`)
      if (before.announced !== undefined) blame(3, `operation.${before.announced} came before it`)
      return { status: 'ready', attempt, dispatch }
    case 'operation.ended':
      return ended(event, before, blame)
    case 'operation.skipped':
      if (status === 'running' || isEnded(status)) blame(3, `it was ${status}`)
      return { status: endedStatusOf(event) ?? status, attempt, dispatch }
    default:
      if (status !== 'running') blame(4, `it was ${status}, not running`)
      return before
  }
}

/** A dispatch whose job was lost is followed by another without a start in between. */
function queued(event: Event, { status, attempt, dispatch }: Folded, blame: Blame): Folded {
  const data = QueuedData.safeParse(event.data).data
  const isAgain = status === 'dispatched' && data?.reason === 'job_lost'
  if (status !== 'unseen' && status !== 'ready' && !isAgain) blame(3, `it was ${status}`)
  if (data?.dispatch !== dispatch + 1) blame(3, `dispatch ${data?.dispatch} after dispatch ${dispatch}`)
  return { status: 'dispatched', attempt, dispatch: dispatch + 1 }
}

function ended(event: Event, { status, attempt, dispatch, announced }: Folded, blame: Blame): Folded {
  if (status !== 'running') blame(3, `it was ${status}`)
  const said = endedStatusOf(event)
  const due = said === 'failed' || said === 'blocked' ? said : undefined
  if (status === 'running' && announced !== due) {
    const before = announced === undefined ? `no operation.${due} came` : `operation.${announced} came`
    blame(3, `it says ${said}, ${before} before it`)
  }
  return { status: said ?? status, attempt, dispatch }
}

function endedStatusOf(event: Event): EndedOperationStatus | undefined {
  return EndedData.safeParse(event.data).data?.status
}

function isEnded(status: FoldedStatus): boolean {
  return endedOperationStatuses.some((one) => one === status)
}

function isWell(status: FoldedStatus): boolean {
  return status === 'succeeded' || status === 'unchanged'
}

/** Whether an operation in this state lets its dependents start. */
function lets(status: FoldedStatus, policy: ErrorPolicyName): boolean {
  return policy === 'continue' ? isEnded(status) : isWell(status)
}
