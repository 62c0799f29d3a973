import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { SpanRecorder } from '#domain/span.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { type Log, silentLog } from '#platform/log.ts'
import { openRedactor, type Redactor } from '#platform/secrets/redactor.ts'
import type { Signer } from '#platform/signer.ts'
import { leftovers } from './accounts.ts'
import { claimStep, commitStep, noteItem, noteReply, readAgenda, sendToConductor } from './conductor-steps.ts'
import { endAsk, readAsk, receiveAsk } from './asks.ts'
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
import { type HeldPart, whileHolding } from './lease.ts'
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
import { bindAll, type LedgerStore } from './store.ts'
import { readTalk, talkVersion } from './talk.ts'
import { lastTold, readTold, tellEvents, trimTold } from './told-events.ts'
import { readUsage } from './usage.ts'
import { keepWatch, readWatch } from './watch.ts'
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

const commands = {
  decide,
  countVerdicts,
  notePatch,
  notePart,
  notePublication,
  readDecisions,
  lastDecision,
  operationsOfSets,
  setsBuiltOn,
  wantedNotes,
  mayWantRetry,
  endWanted,
  readEvents,
  readTally,
  readLive,
  readTalk,
  talkVersion,
  archiveEvents,
  tellEvents,
  readTold,
  lastTold,
  trimTold,
  takeResult,
  claimStep,
  noteReply,
  commitStep,
  sendToConductor,
  noteItem,
  readAgenda,
  receiveAsk,
  endAsk,
  readAsk,
  claim,
  append,
  settle,
  release,
  suspend,
  awaitTool,
  readWatch,
  keepWatch,
  setBudget,
  reserve,
  noteProjectBudget,
  countSpent,
  holdForAsk,
  setProjectBudget,
  readProjectBudget,
  readUsage,
  createRun,
  expectRunRoom,
  move,
  reopen,
  plan,
  planAgain,
  dispatch,
  dispatchedLongAgo,
  requeue,
  sweep,
  setAway,
  countHeld,
  blockHeld,
  cancel,
  endSlice,
  resume,
  outboxLength,
  relayResults,
  getRun,
  listRuns,
  activeRuns,
  deactivate,
  getOperation,
  listOperations,
  listReported,
  countFailures,
  endedOperations,
  listQuestions,
  isAllowed,
  requestDeletion,
  isBeingDeleted,
  isPatching,
  beginPatching,
  endPatching,
  leftovers,
  verify: verifyRun,
}

function storeOf(redis: RedisClient, options: LedgerOptions): LedgerStore {
  const { namespace = 'remora', leaseMs = defaultLeaseMs, archive, redactor = openRedactor() } = options
  const { origin = { kind: 'worker', id: 'ledger' }, log = silentLog, traces = { record() {} }, signer } = options
  return { redis, namespace, leaseMs, origin, archive, redactor, log, traces, signer }
}

export function openLedger(redis: RedisClient, options: LedgerOptions = {}) {
  const store = storeOf(redis, options)
  return {
    ...bindAll(store, commands),
    whileHolding: <T>(runId: RunId, part: HeldPart, work: (signal: AbortSignal, token: string) => Promise<T>) =>
      whileHolding(store, runId, part, work),
  }
}
