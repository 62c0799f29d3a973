import { z } from 'zod'
import type { Event } from '#domain/event.ts'
import { endedOperationStatuses, type EndedOperationStatus, type RepeatedWork } from '#domain/operation.ts'
import { ErrorPolicyName } from '#domain/run.ts'
import type { Dependency, Invariant, Violation } from './accounts.ts'

/** An operation's status by its events alone. `unseen`: it has none yet, so it is pending or ready. */
export type FoldedStatus = 'unseen' | 'ready' | 'dispatched' | 'running' | 'waiting' | EndedOperationStatus

/** `announced`: by `operation.failed` or `operation.blocked`. `reported`: by the attempt that runs. */
type Folded = {
  status: FoldedStatus
  attempt: number
  dispatch: number
  announced?: 'failed' | 'blocked'
  errorCode?: string
  asked?: { request: string; answered: boolean }
  reported?: { sets: readonly string[]; findings: number }
}

export type OperationsFold = ReturnType<typeof foldOperations>

const EndedData = z.object({ status: z.enum(endedOperationStatuses) })
const CountedData = z.object({
  change_set_id: z.string().optional(),
  change_set_ids: z.array(z.string()).optional(),
  findings: z.int().default(0),
})
const CreatedData = z.object({ change_set_id: z.string() })
const AttemptData = z.object({ attempt: z.int() })
const QueuedData = z.object({ dispatch: z.int(), reason: z.string().optional() })
const CauseData = z.object({ cause: z.string() })
const RequestData = z.object({ request_id: z.string() })
const ResumesData = z.object({ resumes: z.string().optional() })

type PlannedFacts = { waitsFor: readonly Dependency[]; repeats: RepeatedWork | null }
const ReopenedData = z.object({ error_policy: ErrorPolicyName.optional() })

/** Follows every operation through the run's events, in order, and notes violations of the invariants 3 to 5. */
export function foldOperations(plan: {
  /** An operation that is not in it was never planned. */
  planned: ReadonlyMap<string, PlannedFacts>
  /** The request's; a reopening may have another one. */
  policy: ErrorPolicyName
}) {
  let { policy } = plan
  const states = new Map<string, Folded>()
  const violations: Violation[] = []
  const tally = new Map<FoldedStatus, number>()
  let stoppedBy: string | undefined
  const failureCodeOf = (id: string) => failureCode(states.get(id))
  const statusOf = (id: string) => states.get(id)?.status ?? 'unseen'
  /** Counts the operations that have the status; only those that events name are counted as `unseen` or `ready`. */
  const count = (status: FoldedStatus) => tally.get(status) ?? 0

  function take(event: Event): void {
    if (event.event === 'run.reopened') {
      policy = ReopenedData.parse(event.data).error_policy ?? policy
      stoppedBy = undefined
    }
    const id = event.operationId
    if (id === undefined) return
    const blame = (invariant: Invariant, what: string) =>
      void violations.push({ invariant, message: `event ${event.seq} ${event.event} of operation ${id}: ${what}` })
    if (!plan.planned.has(id)) blame(2, 'the operation was never planned')
    const after = step(event, states.get(id) ?? { status: 'unseen', attempt: 0, dispatch: 0 }, blame)
    if (event.event === 'operation.started') checkDependencies(id, blame)
    if (event.event === 'operation.skipped')
      checkCause(event, { waitsFor: plan.planned.get(id)?.waitsFor ?? [], statusOf, policy }, blame)
    const mayStop = plan.planned.get(id)?.repeats?.because !== 'collided'
    if (policy === 'stop_run' && isBad(after.status) && mayStop) stoppedBy ??= id
    tally.set(statusOf(id), count(statusOf(id)) - 1)
    tally.set(after.status, count(after.status) + 1)
    states.set(id, after)
  }

  function checkDependencies(id: string, blame: Blame): void {
    const early = plan.planned.get(id)?.waitsFor.filter((other) => !lets(other, statusOf(other.id), policy)) ?? []
    for (const other of early) blame(5, `started although ${other.id}, which it waits for, is ${statusOf(other.id)}`)
    if (stoppedBy !== undefined) blame(5, `started although ${stoppedBy} had stopped the run`)
  }

  const running = () => [...states].filter(([, { status }]) => status === 'running').map(([id]) => id)
  return { take, statusOf, failureCodeOf, count, running, violations }
}

type Skipping = Pick<PlannedFacts, 'waitsFor'> & { statusOf(id: string): FoldedStatus; policy: ErrorPolicyName }

function checkCause(event: Event, { waitsFor, statusOf, policy }: Skipping, blame: Blame): void {
  const data = CauseData.safeParse(event.data)
  if (!data.success) return blame(5, 'names no cause')
  const { cause } = data.data
  if (endedStatusOf(event) === 'cancelled' || cause === 'item') return
  if (policy === 'continue') blame(5, 'skipped in a run that continues after errors')
  else if (!waitsFor.some(({ id, any }) => id === cause && !any)) blame(5, `names ${cause}, which it does not wait for`)
  else if (!isEnded(statusOf(cause)) || isWell(statusOf(cause))) blame(5, `names ${cause}, which is ${statusOf(cause)}`)
}

function failureCode({ status, errorCode = '' }: Partial<Folded> = {}): string | undefined {
  return isBad(status) ? errorCode : undefined
}

function isBad(status: FoldedStatus | undefined): status is 'failed' | 'blocked' {
  return status === 'failed' || status === 'blocked'
}

type Blame = (invariant: Invariant, what: string) => void

function step(event: Event, before: Folded, blame: Blame): Folded {
  const { status, attempt } = before
  switch (event.event) {
    case 'operation.queued':
      return queued(event, before, blame)
    case 'operation.started': {
      if (status !== 'dispatched' && status !== 'ready') blame(3, `it was ${status}`)
      const started = AttemptData.safeParse(event.data).data?.attempt
      if (started !== attempt + 1) blame(3, `attempt ${started} after attempt ${attempt}`)
      const resumes = ResumesData.safeParse(event.data).data?.resumes
      if (resumes !== before.asked?.request) blame(3, `it resumes ${resumes}, ${before.asked?.request} was asked last`)
      const { reported: _, ...rest } = before
      return { ...rest, status: 'running', attempt: attempt + 1 }
    }
    case 'operation.failed':
    case 'operation.blocked':
      if (!mayEnd(status, event)) blame(4, `it was ${status}, not running`)
      return announce(event, before)
    case 'operation.retried':
      if (status !== 'running') blame(3, `it was ${status}`)
      if (before.announced !== undefined) blame(3, `operation.${before.announced} came before it`)
      checkCounted(before, {}, blame)
      return { ...before, status: 'ready' }
    case 'human_input.requested':
    case 'operation.suspended':
    case 'human_input.answered':
    case 'operation.resumed':
      return asked(event, before, blame)
    case 'operation.ended':
      return ended(event, before, blame)
    case 'operation.skipped':
      if (status === 'running' || isEnded(status)) blame(3, `it was ${status}`)
      return { ...before, status: endedStatusOf(event) ?? status }
    default:
      if (status !== 'running') blame(4, `it was ${status}, not running`)
      return counted(event, before)
  }
}

function counted({ event, data }: Event, before: Folded): Folded {
  const { sets, findings } = before.reported ?? { sets: [], findings: 0 }
  if (event === 'finding.reported') return { ...before, reported: { sets, findings: findings + 1 } }
  if (event !== 'change_set.created') return before
  const { change_set_id: id = 'without an id' } = CreatedData.safeParse(data).data ?? {}
  return { ...before, reported: { sets: [...sets, id], findings } }
}

/** Checks that what an attempt says that counts comes with the outcome that counts it; an attempt without an outcome says nothing of it. */
function checkCounted({ reported }: Folded, data: Event['data'], blame: Blame): void {
  const { change_set_id: id, change_set_ids: ids = id === undefined ? [] : [id], findings } = CountedData.parse(data)
  const foreign = reported?.sets.find((setId, at, all) => !ids.includes(setId) || all.indexOf(setId) < at)
  if (foreign !== undefined) blame(3, `change_set.created of ${foreign} came before it, which it does not have`)
  if ((reported?.findings ?? 0) > findings)
    blame(3, `${reported?.findings} finding.reported came before it, and it has ${findings}`)
}

function asked(event: Event, before: Folded, blame: Blame): Folded {
  const asks = event.event === 'human_input.requested' || event.event === 'operation.suspended'
  const due = asks ? 'running' : 'waiting'
  if (before.status !== due) blame(asks ? 4 : 3, `it was ${before.status}, not ${due}`)
  const request = RequestData.safeParse(event.data).data?.request_id ?? 'no question'
  if (event.event === 'human_input.requested') return { ...before, asked: { request, answered: false } }
  const { asked: last } = before
  if (last?.request !== request) blame(3, `it names ${request}, ${last?.request} was asked last`)
  if (event.event === 'operation.suspended') {
    checkCounted(before, {}, blame)
    return { ...before, status: 'waiting' }
  }
  if (event.event === 'human_input.answered') {
    if (last?.answered === true) blame(3, 'it was answered before')
    return { ...before, asked: { request, answered: true } }
  }
  if (last?.answered !== true) blame(3, 'no human_input.answered came before it')
  return { ...before, status: 'ready' }
}

/** After a dispatch whose job was lost, another may follow without a start between them. */
function queued(event: Event, before: Folded, blame: Blame): Folded {
  const { status, dispatch } = before
  const data = QueuedData.safeParse(event.data).data
  const isAgain = status === 'dispatched' && data?.reason === 'job_lost'
  if (status !== 'unseen' && status !== 'ready' && !isAgain) blame(3, `it was ${status}`)
  if (data?.dispatch !== dispatch + 1) blame(3, `dispatch ${data?.dispatch} after dispatch ${dispatch}`)
  return { ...before, status: 'dispatched', dispatch: dispatch + 1 }
}

function announce({ event, errorCode }: Event, before: Folded): Folded {
  const announced = event === 'operation.failed' ? 'failed' : 'blocked'
  return { ...before, announced, ...(errorCode !== undefined && { errorCode }) }
}

function ended(event: Event, before: Folded, blame: Blame): Folded {
  const { status, announced } = before
  if (!mayEnd(status, event)) blame(3, `it was ${status}`)
  const outcome = endedStatusOf(event)
  const due = outcome === 'failed' || outcome === 'blocked' ? outcome : undefined
  if (mayEnd(status, event) && announced !== due) {
    const came = announced === undefined ? `no operation.${due} came` : `operation.${announced} came`
    blame(3, `it says ${outcome}, ${came} before it`)
  }
  checkCounted(before, event.data, blame)
  return { ...before, status: outcome ?? status }
}

/** An operation ends from a running attempt, from a question that was not answered, or blocked by a model that is away or its item's budget. */
function mayEnd(status: FoldedStatus, { event, errorCode, data }: Event): boolean {
  if (status === 'running' || status === 'waiting') return true
  const isBlocked = event === 'operation.blocked' || EndedData.safeParse(data).data?.status === 'blocked'
  return (
    (status === 'unseen' || status === 'ready') && isBlocked && (errorCode === 'AGENT_002' || errorCode === 'LIMIT_004')
  )
}

function endedStatusOf(event: Event): EndedOperationStatus | undefined {
  return EndedData.safeParse(event.data).data?.status
}

function isEnded(status: FoldedStatus): boolean {
  return endedOperationStatuses.some((known) => known === status)
}

function isWell(status: FoldedStatus): boolean {
  return status === 'succeeded' || status === 'unchanged'
}

function lets({ any }: Dependency, status: FoldedStatus, policy: ErrorPolicyName): boolean {
  return any || policy === 'continue' ? isEnded(status) : isWell(status)
}
