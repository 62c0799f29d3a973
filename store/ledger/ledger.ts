import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { SpanRecorder } from '#domain/span.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { type Log, silentLog } from '#platform/log.ts'
import { openRedactor, type Redactor } from '#platform/secrets/redactor.ts'
import type { Signer } from '#platform/signer.ts'
import { leftovers } from './accounts.ts'
import { claimStep, commitStep, noteItem, noteReply, readAgenda, sendToConductor } from './conductor-steps.ts'
import { endAsk, readAsk, readAsks, receiveAsk, whileAnswering } from './asks.ts'
import { append, claim } from './attempt.ts'
import {
  countSpent,
  holdForAsk,
  noteProjectBudget,
  readProjectBudget,
  reserve,
  setBudget,
  setProjectBudget,
} from './budgets.ts'
import { countVerdicts, decide, lastDecision, operationsOfSets, readDecisions, setsBuiltOn } from './decisions.ts'
import { beginPatching, endPatching, isBeingDeleted, isPatching, requestDeletion } from './delete-run.ts'
import { blockHeld, countHeld, dispatch, dispatchedLongAgo, requeue, setAway, sweep } from './dispatch.ts'
import { awaitTool, release, settle, suspend } from './end-attempt.ts'
import { archiveEvents, readEvents, readTally } from './event-log.ts'
import { readLive } from './live-state.ts'
import { notePart, notePatch } from './patch-notes.ts'
import { plan, planAgain } from './plan.ts'
import { notePublication } from './publications.ts'
import { isAllowed, listQuestions, resume } from './questions.ts'
import { countFailures, endedOperations, getOperation, listOperations, listReported } from './read-operations.ts'
import { activeRuns, getRun, listRuns } from './read-runs.ts'
import { reopen } from './reopen.ts'
import { outboxLength, relayResults } from './results.ts'
import { cancel, createRun, deactivate, endSlice, expectRunRoom, move, takeResult } from './run-commands.ts'
import { bindTo, type LedgerStore } from './store.ts'
import { readTalk, talkVersion } from './talk.ts'
import { lastTold, readTold, tellEvents, trimTold } from './told-events.ts'
import { readUsage } from './usage.ts'
import { keepWatch, readWatch, whileWatching } from './watch.ts'
import type { EventArchive } from './stored-events.ts'
import { verifyRun } from './verify.ts'
import { endWanted, mayWantRetry, wantedNotes } from './runs-to-retry.ts'

export type LedgerOptions = {
  namespace?: string
  leaseMs?: number
  origin?: EventOrigin
  /** Holds trimmed events; without it events are read from the streams alone, and stay there. */
  archive?: EventArchive
  /** Hides secrets in events and results before they are written; without it, those that can be recognised. */
  redactor?: Redactor
  /** Has a line when a run is accepted, starts and ends, of the process whose command did that. */
  log?: Pick<Log, 'info'>
  /** Signs requests, decisions of people and publications; those without a right signature then do not count. */
  signer?: Signer | undefined
  /** Has a span for each run whose end a command of this process is. */
  traces?: SpanRecorder
}

/**
 * Decides what counts, where the queue delivers at least once and forgets. Each command is one script over one run's keys and
 * may be sent twice. STORE_001: Redis out of reach.
 */
export type Ledger = ReturnType<typeof openLedger>

const defaultLeaseMs = 30_000

function reviewCommands(bind: ReturnType<typeof bindTo<LedgerStore>>) {
  return {
    decide: bind(decide),
    countVerdicts: bind(countVerdicts),
    notePatch: bind(notePatch),
    notePart: bind(notePart),
    notePublication: bind(notePublication),
    readDecisions: bind(readDecisions),
    lastDecision: bind(lastDecision),
    operationsOfSets: bind(operationsOfSets),
    setsBuiltOn: bind(setsBuiltOn),
    wantedNotes: bind(wantedNotes),
    mayWantRetry: bind(mayWantRetry),
    endWanted: bind(endWanted),
  }
}

function eventCommands(bind: ReturnType<typeof bindTo<LedgerStore>>) {
  return {
    readEvents: bind(readEvents),
    readTally: bind(readTally),
    readLive: bind(readLive),
    readTalk: bind(readTalk),
    talkVersion: bind(talkVersion),
    archiveEvents: bind(archiveEvents),
    tellEvents: bind(tellEvents),
    readTold: bind(readTold),
    lastTold: bind(lastTold),
    trimTold: bind(trimTold),
    takeResult: bind(takeResult),
  }
}

function conductorCommands(bind: ReturnType<typeof bindTo<LedgerStore>>) {
  return {
    claimStep: bind(claimStep),
    noteReply: bind(noteReply),
    commitStep: bind(commitStep),
    sendToConductor: bind(sendToConductor),
    noteItem: bind(noteItem),
    readAgenda: bind(readAgenda),
  }
}

function askCommands(store: LedgerStore, bind: ReturnType<typeof bindTo<LedgerStore>>) {
  return {
    receiveAsk: bind(receiveAsk),
    endAsk: bind(endAsk),
    readAsk: bind(readAsk),
    readAsks: bind(readAsks),
    whileAnswering: <T>(runId: RunId, work: (signal: AbortSignal, token: string) => Promise<T>) =>
      whileAnswering(store, runId, work),
  }
}

function attemptCommands(bind: ReturnType<typeof bindTo<LedgerStore>>) {
  return {
    claim: bind(claim),
    append: bind(append),
    settle: bind(settle),
    release: bind(release),
    suspend: bind(suspend),
    awaitTool: bind(awaitTool),
  }
}

function watchCommands(store: LedgerStore, bind: ReturnType<typeof bindTo<LedgerStore>>) {
  return {
    readWatch: bind(readWatch),
    keepWatch: bind(keepWatch),
    whileWatching: <T>(runId: RunId, work: (signal: AbortSignal) => Promise<T>) => whileWatching(store, runId, work),
  }
}

function budgetCommands(bind: ReturnType<typeof bindTo<LedgerStore>>) {
  return {
    setBudget: bind(setBudget),
    reserve: bind(reserve),
    noteProjectBudget: bind(noteProjectBudget),
    countSpent: bind(countSpent),
    holdForAsk: bind(holdForAsk),
    setProjectBudget: bind(setProjectBudget),
    readProjectBudget: bind(readProjectBudget),
    readUsage: bind(readUsage),
  }
}

function storeOf(redis: RedisClient, options: LedgerOptions): LedgerStore {
  const { namespace = 'remora', leaseMs = defaultLeaseMs, archive, redactor = openRedactor() } = options
  const { origin = { kind: 'worker', id: 'ledger' }, log = silentLog, traces = { record() {} }, signer } = options
  return { redis, namespace, leaseMs, origin, archive, redactor, log, traces, signer }
}

export function openLedger(redis: RedisClient, options: LedgerOptions = {}) {
  const store = storeOf(redis, options)
  const bind = bindTo(store)
  return {
    createRun: bind(createRun),
    expectRunRoom: bind(expectRunRoom),
    move: bind(move),
    reopen: bind(reopen),
    plan: bind(plan),
    planAgain: bind(planAgain),
    dispatch: bind(dispatch),
    dispatchedLongAgo: bind(dispatchedLongAgo),
    requeue: bind(requeue),
    sweep: bind(sweep),
    setAway: bind(setAway),
    countHeld: bind(countHeld),
    blockHeld: bind(blockHeld),
    cancel: bind(cancel),
    endSlice: bind(endSlice),
    ...attemptCommands(bind),
    resume: bind(resume),
    ...reviewCommands(bind),
    ...budgetCommands(bind),
    ...conductorCommands(bind),
    ...askCommands(store, bind),
    outboxLength: bind(outboxLength),
    relayResults: bind(relayResults),
    getRun: bind(getRun),
    listRuns: bind(listRuns),
    activeRuns: bind(activeRuns),
    deactivate: bind(deactivate),
    getOperation: bind(getOperation),
    listOperations: bind(listOperations),
    listReported: bind(listReported),
    countFailures: bind(countFailures),
    endedOperations: bind(endedOperations),
    listQuestions: bind(listQuestions),
    isAllowed: bind(isAllowed),
    requestDeletion: bind(requestDeletion),
    isBeingDeleted: bind(isBeingDeleted),
    isPatching: bind(isPatching),
    beginPatching: bind(beginPatching),
    endPatching: bind(endPatching),
    ...eventCommands(bind),
    ...watchCommands(store, bind),
    leftovers: bind(leftovers),
    verify: bind(verifyRun),
  }
}
