import { AppError } from '#domain/error.ts'
import type { OperationId } from '#domain/ids.ts'
import type { EndedOperationStatus } from '#domain/operation.ts'
import { noteOwnBudget, tellOver } from './model-budgets.fixture.ts'
import { heldPerDispatch, type SweepReason, type Taken } from './dispatch.ts'
import {
  cancelOperation,
  change,
  endOperation,
  expireQuestion,
  goOn,
  isStopped,
  loseWorker,
  makeReady,
  openCount,
  operationOf,
  placeOf,
  saidIn,
  withStatus,
  type LedgerModel,
  type ModelOperation,
} from './ledger-model.fixture.ts'

/** Each changes the model as the ledger's command of that name does, and returns what the ledger returns. */

function inOrder(model: LedgerModel, place: ReturnType<typeof placeOf>): ModelOperation[] {
  const there = withStatus(model, 'ready').filter((one) => placeOf(one) === place)
  return there.toSorted((left, right) => left.rank - right.rank)
}

export function dispatchModel(model: LedgerModel, max: number, command: string): unknown {
  if (model.lastDispatch?.command === command) return model.lastDispatch.answer
  const looked = max + (model.isAway || model.over.size > 0 ? heldPerDispatch : 0)
  const candidates =
    max > 0 ? [...inOrder(model, 'ready').slice(0, looked), ...inOrder(model, 'suspects').slice(0, 1)] : []
  goOn(model)
  for (const one of withStatus(model, 'ready')) if (one.rest === 'over') one.rest = 'none'
  if (model.wakes) for (const one of withStatus(model, 'ready')) one.isHeld = false
  model.wakes = false
  if (model.phase === 'execution' && !isStopped(model)) noteOwnBudget(model)
  const taken: Taken[] = []
  let hasHeld = false
  for (const one of candidates) {
    if (model.phase !== 'execution' || isStopped(model) || isAlone(model)) continue
    if (model.isAway || model.over.size > 0) {
      one.isHeld = true
      hasHeld = true
      continue
    }
    if (taken.length >= max || !mayTake(model, one)) continue
    one.dispatch += 1
    change(model, one, 'dispatched', 'dispatch')
    taken.push({ operationId: one.id, dispatch: one.dispatch })
    model.events.push({ event: 'operation.queued', operationId: one.id, dispatch: one.dispatch })
  }
  if (hasHeld) {
    tellOver(model)
    goOn(model)
  }
  const [ready, dispatched, running] = (['ready', 'dispatched', 'running'] as const).map((status) => {
    return withStatus(model, status).length
  })
  const answer = { taken, ready, dispatched, running, open: openCount(model) }
  model.lastDispatch = { command, answer }
  return answer
}

/** An operation whose next loss is its last runs alone. */
function isAlone(model: LedgerModel): boolean {
  const last = model.lastSuspect === undefined ? undefined : operationOf(model, model.lastSuspect).status
  return last === 'dispatched' || last === 'running'
}

function mayTake(model: LedgerModel, one: ModelOperation): boolean {
  if (placeOf(one) !== 'suspects') return true
  if (withStatus(model, 'dispatched').length + withStatus(model, 'running').length > 0) return false
  model.lastSuspect = one.id
  return true
}

export function claimModel(model: LedgerModel, job: Taken, token: string): unknown {
  const one = operationOf(model, job.operationId)
  if (one.dispatch !== job.dispatch || (one.status !== 'dispatched' && one.status !== 'running')) return 'gone'
  if (one.status === 'running' && one.token !== token) return 'busy'
  if (one.status === 'dispatched') {
    if (model.stop !== null) {
      cancelOperation(model, one, 'claim')
      goOn(model)
      return 'gone'
    }
    change(model, one, 'running', 'claim')
    one.token = token
    one.attempt += 1
    one.n = 0
    model.events.push({ event: 'operation.started', operationId: one.id, attempt: one.attempt })
  }
  one.leaseIsOver = false
  return `attempt ${one.attempt}${one.asked === undefined ? '' : ` resumes with ${saidIn(one.asked.answer)}`}`
}

/** A write of an attempt, with one event of its own. */
export type Write = { operationId: OperationId; token: string; n: number }

/** The attempt is that of `anEvent`, whatever attempt writes it. */
const toldBy = (operationId: OperationId, event: string) => ({ event, operationId, attempt: 1 })
export const turnFinished = (operationId: OperationId) => toldBy(operationId, 'turn.finished')

/** What the model answers to each append. */
export const tokensPerAppend = 10

export function appendModel(model: LedgerModel, { operationId, token, n }: Write): unknown {
  const one = operationOf(model, operationId)
  if (one.status !== 'running' || one.token !== token) return { kind: 'lost' }
  if (n > one.n) {
    one.n = n
    one.leaseIsOver = false
    model.tokens += tokensPerAppend
    for (const event of ['model.requested', 'model.responded']) model.events.push(toldBy(operationId, event))
    model.events.push(turnFinished(operationId))
  }
  return { kind: 'ok', stopRequested: mustStop(model) }
}

/** How a worker says that an operation ended. */
export type ModelOutcome = { status: EndedOperationStatus; errorCode?: string }

export function settleModel(model: LedgerModel, write: Write, { status, errorCode: code = '' }: ModelOutcome): unknown {
  const one = operationOf(model, write.operationId)
  if (one.token !== write.token || isWaitingAgain(one)) return { kind: 'lost' }
  if (one.status !== 'running') return { kind: 'already' }
  const bad = status === 'failed' || status === 'blocked' ? [`operation.${status}`] : []
  model.events.push(turnFinished(one.id))
  endOperation(model, one, { status, by: 'settle', events: [...bad, 'operation.ended'], code })
  goOn(model)
  return { kind: 'settled' }
}

/** Handed back or suspended, and not claimed since. */
function isWaitingAgain({ status }: ModelOperation): boolean {
  return status === 'ready' || status === 'dispatched' || status === 'waiting'
}

export function releaseModel(model: LedgerModel, write: Write, rests: boolean): unknown {
  const one = operationOf(model, write.operationId)
  if (one.token !== write.token) return { kind: 'lost' }
  if (one.status !== 'running') return { kind: 'already' }
  one.n = write.n
  model.events.push(turnFinished(one.id))
  if (model.stop === null) {
    makeReady(model, one, 'release', rests)
    model.events.push({ event: 'operation.retried', operationId: one.id, attempt: one.attempt })
  } else {
    cancelOperation(model, one, 'release')
    goOn(model)
  }
  return { kind: 'released' }
}

/** All operations of the model's runs need the same model. */
export function setAwayModel(model: LedgerModel, isAway: boolean): void {
  if (model.isAway === isAway || isStopped(model)) return
  model.isAway = isAway
  model.events.push({ event: isAway ? 'models.away' : 'models.back' })
  if (!isAway) {
    model.hasChanged = true
    model.wakes = withStatus(model, 'ready').some((one) => one.isHeld)
  }
  goOn(model)
}

export function blockHeldModel(model: LedgerModel): void {
  if (!model.isAway) return
  const held = withStatus(model, 'ready').filter((one) => placeOf(one) === 'held')
  for (const one of held.toSorted((first, second) => first.rank - second.rank)) {
    if (model.stop !== null) break
    delete one.token
    const events = ['operation.blocked', 'operation.ended']
    endOperation(model, one, { status: 'blocked', by: 'block held', events, code: 'AGENT_002' })
  }
  goOn(model)
}

export function cancelModel(model: LedgerModel, letsFinish: boolean): unknown {
  if (model.status === 'ended') return 'ended'
  model.stop ??= { kind: 'request', letsFinish }
  if (model.stop.kind === 'request' && !letsFinish) model.stop.letsFinish = false
  return 'stopping'
}

function mustStop({ stop }: LedgerModel): boolean {
  return stop !== null && !(stop.kind === 'request' && stop.letsFinish)
}

export function endSliceModel(model: LedgerModel, first: number): unknown {
  if (model.stop === null) return undefined
  for (const one of [...model.operations.values()].slice(first)) {
    if (['pending', 'ready', 'dispatched', 'waiting'].includes(one.status)) cancelOperation(model, one, 'end slice')
  }
  goOn(model)
  return { next: undefined, open: openCount(model) }
}

export function sweepModel(model: LedgerModel, reason: SweepReason): unknown {
  const running = withStatus(model, 'running')
  const takenBack = running.filter((one) => one.leaseIsOver || reason === 'abandoned')
  for (const one of takenBack.toSorted(byId)) loseWorker(model, one, 'sweep', reason === 'lost')
  const overdue = withStatus(model, 'waiting').filter(({ asked }) => asked?.timeIsOver === true)
  let lost = 0
  for (const one of overdue.toSorted(byId)) {
    if (model.stop !== null) continue
    if (one.asked?.requestId !== 'tool') expireQuestion(model, one)
    else lost += 1
    if (one.status === 'waiting') loseWorker(model, one, 'sweep')
  }
  goOn(model)
  return { left: 0, takenBack: takenBack.length + lost }
}

/** What ends at one time ends in the order of the ids. */
function byId(one: ModelOperation, other: ModelOperation): number {
  return one.id < other.id ? -1 : 1
}

export function requeueModel(model: LedgerModel, lost: readonly Taken[], command: string): Taken[] {
  if (isStopped(model)) return []
  return lost.flatMap(({ operationId, dispatch }) => {
    const one = operationOf(model, operationId)
    if (one.status !== 'dispatched') return []
    const again = { operationId, dispatch: dispatch + 1 }
    if (one.dispatch === dispatch) {
      change(model, one, 'dispatched', 'requeue')
      one.dispatch += 1
      one.requeue = command
      model.events.push({ event: 'operation.queued', ...again })
      return [again]
    }
    return one.dispatch === dispatch + 1 && one.requeue === command ? [again] : []
  })
}

export function relayModel(model: LedgerModel): number {
  const fresh = model.ended.length - model.published
  model.published = model.ended.length
  return fresh
}

/** The answer, or what names the fault. */
export async function orFault(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof AppError) return error.code
    if (error instanceof RangeError) return 'RangeError'
    throw error
  }
}
