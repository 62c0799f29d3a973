import type { Escalation } from '#domain/agenda.ts'
import { asAppError, type AppError, ModelUnavailable } from '#domain/error.ts'
import type { Outcome } from '#domain/operation.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Release } from '#store/ledger/end-attempt.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { putAttemptRecord, putUnfinishedAttempt } from '#store/objects/stored-records.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { type Log, storeAtFault } from '#platform/log.ts'
import { type AttemptJournal, isStoreFault } from '../attempt/attempt-journal.ts'
import type { AgentEvent } from '../agent/journal.ts'
import { reportsOf } from './settle-operation.ts'
import { attemptSoFar, costSoFar, type RunningAttempt, unfinishedSoFar } from '../attempt/running-attempt.ts'

/** Limits hand-backs for a store that is away, with a back-off that doubles up to a minute: from a second on, seven minutes cost nothing. */
const maxStoreFaults = 12
const maxBackOffMs = 60_000
/** Limits hand-backs in a row, without a turn between, of an operation whose request may break its server for all others. */
const maxModelFaults = 5
/**
 * Busy servers are no fault of the operation, but some refuse a request for ever in that way: one that needs more tokens than
 * a minute may have. It is handed back at most this many times in a row, with a back-off that doubles up to a minute. That
 * takes about a day, as long as a model may be away by default.
 */
const maxBusyFaults = 1000
const noCost = { turns: 0, promptTokens: 0, completionTokens: 0, durationMs: 0 }

export type GivenUp = {
  attempt: Attempt
  journal: AttemptJournal
  /** Is aborted when the worker stops. */
  signal: AbortSignal
  /** Is undefined when it failed before it was prepared. */
  running: RunningAttempt | undefined
}

export type GiveUpDeps = {
  ledger: Pick<Ledger, 'release' | 'settle'>
  objects: ObjectStore
  versions: Readonly<Record<string, string>>
  log: Pick<Log, 'debug' | 'warn'>
  /** Says how long an operation rests that was handed back for its model, or the first time for a store. */
  handBackMs: number
}

/** Ends an attempt that threw: hands it back when its worker stops, a store or the models are away, or a budget has too little left, drops one that another worker has, else fails it. */
export async function giveUp(given: GivenUp, error: unknown, deps: GiveUpDeps): Promise<void> {
  const { attempt, journal } = given
  const fault = asAppError(error, 'TOOL_004', 'execution')
  const handBack = handBackFor(given, fault, deps)
  const failed = handBack === undefined ? await failedOutcome(given, fault, deps) : undefined
  const resume = handBack === undefined || isStoreFault(fault) ? undefined : await storeProgress(given, deps)
  const { n, events, talk } = await journal.close(failed?.reported)
  if (journal.stopped === 'lost') return
  const ids = { run_id: attempt.runId, operation_id: attempt.operationId }
  // A worker that stops, or an outage, hands back all its attempts: each is an event, and the reason is logged once.
  const isAlone = handBack === undefined && storeAtFault(error) === undefined
  const note = isAlone ? deps.log.warn : deps.log.debug
  note('attempt given up', { ...ids, attempt: attempt.attempt, error })
  if (failed !== undefined) {
    const { outcome, escalations } = failed
    return void (await deps.ledger.settle(attempt, n, { outcome, events, escalations }))
  }
  if (handBack === undefined) return
  const said = isKept(given, handBack, resume) ? [talk].filter((part) => part !== undefined) : undefined
  await deps.ledger.release(attempt, n, { ...handBack, resume, said, events })
}

function handBackFor(
  { attempt, signal, running }: GivenUp,
  fault: AppError,
  { handBackMs }: GiveUpDeps,
): Omit<Release, 'events'> | undefined {
  if (signal.aborted) return { reason: 'drain' }
  const backOffAfter = (faults: number) => Math.min(maxBackOffMs, handBackMs * 2 ** faults)
  if (isStoreFault(fault) && attempt.storeFaults < maxStoreFaults)
    return { reason: 'store', delayMs: backOffAfter(attempt.storeFaults) }
  // The ledger takes it again once its request fits.
  if (fault.code === 'LIMIT_004') return { reason: 'budget' }
  if (!(fault instanceof ModelUnavailable)) return undefined
  const before = running !== undefined && hasProgress(running) ? { modelFaults: 0, busyFaults: 0 } : attempt
  const modelFaults = before.modelFaults + (fault.mayBeTheRequest ? 1 : 0)
  const busyFaults = before.busyFaults + (fault.wasTurnedAway ? 1 : 0)
  if (modelFaults > maxModelFaults || busyFaults > maxBusyFaults) return undefined
  const delayMs = fault.wasTurnedAway ? backOffAfter(before.busyFaults) : handBackMs
  return { reason: 'models', delayMs, modelFaults, busyFaults }
}

/** Of what it said nothing is kept when the next attempt goes on from there, or when busy servers or a budget may turn it away many times. */
function isKept({ running }: GivenUp, { reason }: Pick<Release, 'reason'>, resume: Release['resume']): boolean {
  return running !== undefined && resume === undefined && (!isTurnedAway(reason) || hasProgress(running))
}

function isTurnedAway(reason: Release['reason']): boolean {
  return reason === 'models' || reason === 'budget'
}

function hasProgress({ transcript, turnsBefore }: RunningAttempt): boolean {
  return transcript.turns > turnsBefore
}

/** Stores the turns, so that the next attempt does not pay them again; undefined for none, within a turn, or when the store is away. */
async function storeProgress({ running }: GivenUp, deps: GiveUpDeps): Promise<Release['resume']> {
  if (running === undefined || !hasProgress(running)) return undefined
  const { checkpoint, transcript } = running
  if (checkpoint?.messages !== transcript.messages.length) return undefined
  const unfinished = { ...unfinishedSoFar(running, deps.versions), loop: checkpoint.loop }
  try {
    const recordHash = await putUnfinishedAttempt(deps.objects, running.attempt.projectId, unfinished)
    return { recordHash, spent: costSoFar(running) }
  } catch (error) {
    if (!isStoreFault(asAppError(error, 'TOOL_004'))) throw error
    return undefined
  }
}

type Failed = { outcome: Outcome; reported: readonly AgentEvent[]; escalations?: readonly Escalation[] }

async function failedOutcome({ running }: GivenUp, fault: AppError, deps: GiveUpDeps): Promise<Failed> {
  const reason = { summary: fault.message.slice(0, 500), errorCode: fault.code, reason: fault.message }
  const cost = running === undefined ? noCost : costSoFar(running)
  const phase = fault.phase ?? 'execution'
  const outcome: Outcome = { status: 'failed', ...reason, phase, changedFiles: [], ...cost }
  if (running === undefined || isStoreFault(fault)) return { outcome, reported: [] }
  const { findings, escalations, events: reported } = reportsOf(running)
  const { projectId, runId, operationId } = running.attempt
  try {
    const reportedOutcome = findings.length === 0 ? outcome : { ...outcome, findings: findings.length }
    const record = { ...attemptSoFar(running, deps.versions), changeSet: null, outcome: reportedOutcome }
    const recordHash = await putAttemptRecord(deps.objects, projectId, record)
    return { outcome: { ...reportedOutcome, recordHash }, reported, escalations }
  } catch (error) {
    const note = storeAtFault(error) === undefined ? deps.log.warn : deps.log.debug
    note('attempt record not stored', { run_id: runId, operation_id: operationId, error })
    return { outcome, reported: [] }
  }
}
