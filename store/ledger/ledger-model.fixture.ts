import type { OperationId } from '#domain/ids.ts'
import type { EndedOperationStatus, OperationStatus, PlannedOperation } from '#domain/operation.ts'
import type { ApprovalVerdict, Question } from '#domain/question.ts'
import type { ErrorPolicyName } from '#domain/run.ts'
import { operationTransitions, type Transition, type TransitionCause } from './operation-transitions.fixture.ts'

export type ModelOperation = {
  id: OperationId
  status: OperationStatus
  /** Ready ones are dispatched in this order. */
  rank: number
  dispatch: number
  attempt: number
  lost: number
  left: number
  dependents: { id: OperationId; any: boolean }[]
  /** Of the last attempt, unless its worker was lost. */
  token?: string
  /** The attempt's counter as the ledger knows it. */
  n: number
  leaseIsOver: boolean
  /** Of a ready operation that was handed back with a delay. */
  rest: 'none' | 'resting' | 'over'
  /** A ready one whose model was away, or that had no budget, when it was its turn. */
  isHeld: boolean
  /** As it was planned. */
  planned: PlannedOperation
  /** The record that does its work once more. */
  supersededBy: OperationId | null
  /** Of one that failed or was blocked. */
  code?: string
  /** The last command that dispatched it again. */
  requeue?: string
  /** The last one it asked, or that it waits for a tool. */
  asked?: ModelQuestion
}

export type ModelQuestion = {
  requestId: string
  operationId: OperationId
  status: Question['status']
  timeIsOver: boolean
  /** Whether it asks about a call. */
  isCall: boolean
  answer?: ModelAnswer
}

export type ModelAnswer = { text: string; verdict?: ApprovalVerdict; command: string }

/** Says what was answered, in a word. */
export function saidIn(answer: { text: string; verdict?: ApprovalVerdict | undefined } | null | undefined): string {
  return answer?.verdict ?? answer?.text ?? ''
}

export type ModelEvent = { event: string; operationId?: OperationId; attempt?: number; dispatch?: number }

/**
 * What the ledger knows about one run, without Redis and without slices. Of time it only models expired leases and delays.
 */
export type LedgerModel = {
  policy: ErrorPolicyName
  status: 'running' | 'waiting' | 'ended'
  phase: 'discovery' | 'planning' | 'execution' | 'review'
  generation: number
  /** Whether an operation has changed since the ledger last checked if its run is waiting. */
  hasChanged: boolean
  /** Whether the model that the operations need is away, and whether held ones are to be woken. */
  isAway: boolean
  wakes: boolean
  /** What the run may use and has used, and the budgets that are used up. `told`: the budgets for which a `budget.reached` event exists. */
  budget: number | null
  budgetBase: number
  tokens: number
  over: Set<'run' | 'project'>
  told: Set<'run' | 'project'>
  questions: ModelQuestion[]
  /** Whether the tool that calls ask for is allowed for the run. */
  isAllowed: boolean
  slices: number
  isPlanned: boolean
  /** Of the first slice. */
  planHash?: string
  stop: { kind: 'request'; letsFinish: boolean } | { kind: 'policy'; operationId: OperationId } | null
  operations: Map<OperationId, ModelOperation>
  events: ModelEvent[]
  /** In the order in which they ended. */
  ended: { operationId: OperationId; status: OperationStatus }[]
  /** By code, of those that failed or were blocked and are not superseded. */
  firstFailures: Map<string, OperationId>
  published: number
  /** Ended operations whose dependents are still to be notified; empty between commands. */
  unnotified: OperationId[]
  lastDispatch?: { command: string; answer: unknown }
  lastSuspect?: OperationId
  /** Those that were carried out, each with its generation. */
  moves: Set<string>
  lastReopening?: { command: string; answer: unknown }
  taken: Set<string>
}

const maxLost = 3

export function newLedgerModel(policy: ErrorPolicyName): LedgerModel {
  return {
    policy,
    status: 'running',
    phase: 'planning',
    hasChanged: false,
    isAway: false,
    wakes: false,
    generation: 1,
    budget: null,
    budgetBase: 0,
    tokens: 0,
    over: new Set(),
    told: new Set(),
    questions: [],
    isAllowed: false,
    slices: 0,
    isPlanned: false,
    stop: null,
    operations: new Map(),
    events: [],
    ended: [],
    firstFailures: new Map(),
    published: 0,
    unnotified: [],
    taken: new Set(),
    moves: new Set(),
  }
}

export function pickFrom<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % Math.max(1, list.length)]
}

export function operationOf(model: LedgerModel, id: OperationId): ModelOperation {
  const operation = model.operations.get(id)
  if (operation === undefined) throw new Error(`${id} was never planned`)
  return operation
}

export function withStatus(model: LedgerModel, ...statuses: OperationStatus[]): ModelOperation[] {
  return [...model.operations.values()].filter(({ status }) => statuses.includes(status))
}

/** The name of a transition for `LedgerModel.taken`. */
export function nameOf({ from, to }: Pick<Transition, 'from' | 'to'>, by: TransitionCause): string {
  return `${from} → ${to} by ${by}`
}

const allowed = new Set(operationTransitions.flatMap((one) => one.by.map((by) => nameOf(one, by))))

export function change(model: LedgerModel, one: ModelOperation, to: OperationStatus, by: TransitionCause): void {
  const name = nameOf({ from: one.status, to }, by)
  if (!allowed.has(name)) throw new Error(`the state diagram does not have: ${name}`)
  model.taken.add(name)
  model.hasChanged = true
  one.status = to
}

export function addOperation(model: LedgerModel, planned: PlannedOperation): void {
  const { operationId: id, after, afterAny = [] } = planned
  const left = after.length + afterAny.length
  const status = left === 0 ? 'ready' : 'pending'
  const rank = planned.priority * 1e9 + model.operations.size
  const fresh = { dispatch: 0, attempt: 0, lost: 0, n: 0, leaseIsOver: false, rest: 'none', isHeld: false } as const
  model.operations.set(id, { id, status, rank, left, dependents: [], planned, supersededBy: null, ...fresh })
  model.taken.add(nameOf({ from: 'new', to: status }, 'plan'))
}

/** The set of undispatched operations that a ready operation is in. */
export function placeOf(one: ModelOperation): 'ready' | 'delayed' | 'suspects' | 'held' {
  if (one.isHeld) return 'held'
  if (one.rest !== 'none') return 'delayed'
  return one.lost >= maxLost - 1 ? 'suspects' : 'ready'
}

export function makeReady(model: LedgerModel, one: ModelOperation, by: TransitionCause, rests = false): void {
  change(model, one, 'ready', by)
  one.rest = rests ? 'resting' : 'none'
  one.isHeld = false
}

export type Ending = { status: EndedOperationStatus; by: TransitionCause; events: readonly string[]; code?: string }

export function endOperation(model: LedgerModel, one: ModelOperation, { status, by, events, code = '' }: Ending): void {
  const attempt = one.status === 'running' || by === 'sweep' ? { attempt: one.attempt } : {}
  change(model, one, status, by)
  for (const event of events) model.events.push({ event, operationId: one.id, ...attempt })
  model.ended.push({ operationId: one.id, status })
  model.unnotified.push(one.id)
  const isBad = status === 'failed' || status === 'blocked'
  if (isBad) one.code = code
  if (isBad && !model.firstFailures.has(code)) model.firstFailures.set(code, one.id)
  const mayStop = one.planned.repeats?.because !== 'collided'
  if (isBad && model.policy === 'stop_run' && mayStop) model.stop ??= { kind: 'policy', operationId: one.id }
}

export function cancelOperation(model: LedgerModel, one: ModelOperation, by: TransitionCause): void {
  const isRunning = one.status === 'running'
  // An attempt that handed it back did not end it.
  if (!isRunning) delete one.token
  if (one.status === 'waiting' && one.asked !== undefined) one.asked.status = 'cancelled'
  const events = [isRunning ? 'operation.ended' : 'operation.skipped']
  endOperation(model, one, { status: 'cancelled', by, events })
}

/** Takes an operation back from a worker that was silent for too long or (without counting a loss) is known to have ended. */
export function loseWorker(model: LedgerModel, one: ModelOperation, by: TransitionCause, isLoss = true): void {
  delete one.token
  if (model.stop !== null) return cancelOperation(model, one, by)
  if (isLoss) one.lost += 1
  if (isLoss && one.lost >= maxLost) {
    const events = ['operation.failed', 'operation.ended']
    return endOperation(model, one, { status: 'failed', by, events, code: 'TOOL_004' })
  }
  const event =
    one.status === 'waiting' ? { event: 'operation.resumed' } : { event: 'operation.retried', attempt: one.attempt }
  makeReady(model, one, by)
  model.events.push({ ...event, operationId: one.id })
}

/** Nobody answered in time. */
export function expireQuestion(model: LedgerModel, one: ModelOperation): void {
  delete one.token
  if (one.asked !== undefined) one.asked.status = 'expired'
  const events = ['operation.blocked', 'operation.ended']
  endOperation(model, one, { status: 'blocked', by: 'sweep', events, code: 'ASK_003' })
}

/**
 * Notifies dependents of ended operations, in the order in which these ended; then a planned run with nothing open moves on, and one in
 * which only questions are open is waiting.
 */
export function goOn(model: LedgerModel): void {
  for (let cause = model.unnotified.shift(); cause !== undefined; cause = model.unnotified.shift()) {
    const { status, dependents } = operationOf(model, cause)
    const isWell = status === 'succeeded' || status === 'unchanged'
    for (const { id, any } of dependents) {
      tell(model, operationOf(model, id), any || isWell || model.policy === 'continue')
    }
  }
  if (model.hasChanged && model.status === 'waiting') model.status = 'running'
  model.hasChanged = false
  if (isStopped(model) || !model.isPlanned || model.phase !== 'execution') return
  if (openCount(model) === 0) model.phase = 'review'
  else if (model.status === 'running' && onlyWaits(model)) {
    model.status = 'waiting'
    model.events.push({ event: 'run.waiting' })
  }
}

function tell(model: LedgerModel, one: ModelOperation, mayStart: boolean): void {
  if (mayStart) one.left -= 1
  if (one.status !== 'pending') return
  if (!mayStart) endOperation(model, one, { status: 'skipped', by: 'notified', events: ['operation.skipped'] })
  else if (one.left === 0) makeReady(model, one, 'notified')
}

function onlyWaits(model: LedgerModel): boolean {
  if (withStatus(model, 'dispatched', 'running').length > 0) return false
  if (withStatus(model, 'waiting').some(({ asked }) => asked?.requestId === 'tool')) return false
  const ready = withStatus(model, 'ready')
  const held = ready.filter((one) => one.isHeld)
  return (
    held.length === ready.length &&
    !(model.wakes && held.length > 0) &&
    withStatus(model, 'waiting').length + held.length > 0
  )
}

/** Is true for a run that is being stopped, and for one that has ended. */
export function isStopped({ stop, status }: Pick<LedgerModel, 'stop' | 'status'>): boolean {
  return stop !== null || status === 'ended'
}

export function openCount(model: LedgerModel): number {
  return withStatus(model, 'pending', 'ready', 'dispatched', 'running', 'waiting').length
}
