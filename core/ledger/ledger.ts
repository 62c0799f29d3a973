import type { RedisClient } from '#platform/connect-redis.ts'
import type { Event, EventOrigin, NewEvent } from '#domain/event.ts'
import type { OperationId, ProjectId, RunId } from '#domain/ids.ts'
import type { Operation, OperationStatus } from '#domain/operation.ts'
import type { Question } from '#domain/question.ts'
import type { Run } from '#domain/run.ts'
import { archiveEvents } from './archive-events.ts'
import { append, type AppendAnswer } from './append.ts'
import { cancel, type CancelAnswer, type CancelRequest } from './cancel.ts'
import { claim, type Attempt, type ClaimAnswer, type DispatchedOperation } from './claim.ts'
import { createRun, type NewRun } from './create-run.ts'
import { deactivate } from './deactivate.ts'
import { dispatch, type DispatchAnswer, type Taken } from './dispatch.ts'
import type { EventArchive } from './event-archive.ts'
import { endSlice, type EndSliceAnswer } from './end-slice.ts'
import { leftovers } from './leftovers.ts'
import { activeRuns, listRuns, type ActiveRun, type RunPage } from './list-runs.ts'
import { move, type MoveAnswer, type RunMove } from './move.ts'
import { plan, type PlanAnswer, type PlanSlice } from './plan.ts'
import { endedOperations, type EndedOperation } from './read-ended-operations.ts'
import { readEvents } from './read-events.ts'
import { getOperation, listOperations, type OperationPage } from './read-operations.ts'
import { listQuestions, type QuestionSlice } from './read-questions.ts'
import { getRun } from './read-run.ts'
import { relayResults } from './relay-results.ts'
import { dispatchedLongAgo, requeue } from './requeue.ts'
import { release, type Release, type ReleaseAnswer } from './release.ts'
import { resume, type Answer } from './resume.ts'
import { settle, type SettleAnswer, type Settlement } from './settle.ts'
import { orStoreError } from './store-error.ts'
import type { LedgerStore } from './store.ts'
import { suspend, type SuspendAnswer, type Suspension } from './suspend.ts'
import { sweep, type SweepReason } from './sweep.ts'
import { verifyRun, type Verification } from './verify.ts'

/**
 * How a run is accounted for. The queue delivers at least once and forgets; the ledger remembers, and decides what
 * counts. Each command is one script over the keys of one run and may be sent twice. Redis out of reach is STORE_001.
 */
export type Ledger = {
  createRun(run: NewRun): Promise<void>
  move(runId: RunId, change: RunMove): Promise<MoveAnswer>
  plan(runId: RunId, slice: PlanSlice): Promise<PlanAnswer>
  dispatch(runId: RunId, max: number, options?: { command?: string; window?: number }): Promise<DispatchAnswer>
  dispatchedLongAgo(runId: RunId, page: { agedMs: number; limit: number }): Promise<Taken[]>
  requeue(runId: RunId, lost: readonly Taken[], command?: string): Promise<Taken[]>
  sweep(runId: RunId, reason?: SweepReason): Promise<number>
  cancel(runId: RunId, request: CancelRequest): Promise<CancelAnswer>
  endSlice(runId: RunId, first: number): Promise<EndSliceAnswer | undefined>
  claim(job: DispatchedOperation, token: string): Promise<ClaimAnswer>
  append(attempt: Attempt, n: number, events: readonly NewEvent[]): Promise<AppendAnswer>
  settle(attempt: Attempt, n: number, settlement: Settlement): Promise<SettleAnswer>
  release(attempt: Attempt, n: number, release: Release): Promise<ReleaseAnswer>
  suspend(attempt: Attempt, n: number, suspension: Suspension): Promise<SuspendAnswer>
  resume(runId: RunId, answer: Answer): Promise<Question>
  relayResults(runId: RunId): Promise<number>
  getRun(runId: RunId): Promise<Run>
  listRuns(projectId: ProjectId, page: { before?: RunId; limit: number }): Promise<RunPage>
  activeRuns(): Promise<ActiveRun[]>
  deactivate(run: { projectId: ProjectId; runId: RunId }): Promise<void>
  getOperation(runId: RunId, operationId: OperationId): Promise<Operation>
  listOperations(
    runId: RunId,
    page: { status?: OperationStatus; cursor?: string; limit: number },
  ): Promise<OperationPage>
  endedOperations(runId: RunId, operationIds: readonly OperationId[]): Promise<EndedOperation[]>
  listQuestions(runId: RunId, slice?: QuestionSlice): Promise<Question[]>
  readEvents(runId: RunId, page: { after: number; limit: number }): Promise<Event[]>
  /** Answers how many segments it moved; 0 without an archive. */
  archiveEvents(runId: RunId, options?: { keep?: number }): Promise<number>
  leftovers(run: { projectId: ProjectId; runId: RunId }): Promise<string[]>
  verify(runId: RunId): Promise<Verification>
}

export type LedgerOptions = {
  /** First part of every key; tests have their own. */
  namespace?: string
  leaseMs?: number
  /** Who this process is in the events the ledger itself reports. */
  origin?: EventOrigin
  /** Where trimmed events are; without it events are read from the streams alone, and stay there. */
  archive?: EventArchive
}

const defaultLeaseMs = 30_000

/** The ledger over a connection that stays the caller's to close. */
export function openLedger(redis: RedisClient, options: LedgerOptions = {}): Ledger {
  const { namespace = 'remora', leaseMs = defaultLeaseMs, origin = { kind: 'worker', id: 'ledger' } } = options
  const { archive } = options
  const store: LedgerStore = { redis, namespace, leaseMs, origin, archive }
  return {
    createRun: (run) => orStoreError(createRun(store, run)),
    move: (runId, change) => orStoreError(move(store, runId, change)),
    plan: (runId, slice) => orStoreError(plan(store, runId, slice)),
    dispatch: (runId, max, limits) => orStoreError(dispatch(store, runId, max, limits)),
    dispatchedLongAgo: (runId, page) => orStoreError(dispatchedLongAgo(store, runId, page)),
    requeue: (runId, lost, command) => orStoreError(requeue(store, runId, lost, command)),
    sweep: (runId, reason) => orStoreError(sweep(store, runId, reason)),
    cancel: (runId, request) => orStoreError(cancel(store, runId, request)),
    endSlice: (runId, first) => orStoreError(endSlice(store, runId, first)),
    claim: (job, token) => orStoreError(claim(store, job, token)),
    append: (attempt, n, events) => orStoreError(append(store, attempt, n, events)),
    settle: (attempt, n, settlement) => orStoreError(settle(store, attempt, n, settlement)),
    release: (attempt, n, handedBack) => orStoreError(release(store, attempt, n, handedBack)),
    suspend: (attempt, n, suspension) => orStoreError(suspend(store, attempt, n, suspension)),
    resume: (runId, answer) => orStoreError(resume(store, runId, answer)),
    relayResults: (runId) => orStoreError(relayResults(store, runId)),
    getRun: (runId) => orStoreError(getRun(store, runId)),
    listRuns: (projectId, page) => orStoreError(listRuns(store, projectId, page)),
    activeRuns: () => orStoreError(activeRuns(store)),
    deactivate: (run) => orStoreError(deactivate(store, run)),
    getOperation: (runId, operationId) => orStoreError(getOperation(store, runId, operationId)),
    listOperations: (runId, page) => orStoreError(listOperations(store, runId, page)),
    endedOperations: (runId, ids) => orStoreError(endedOperations(store, runId, ids)),
    listQuestions: (runId, slice) => orStoreError(listQuestions(store, runId, slice)),
    readEvents: (runId, page) => orStoreError(readEvents(store, runId, page)),
    archiveEvents: async (runId, limits) =>
      archive === undefined ? 0 : orStoreError(archiveEvents(store, archive, runId, limits)),
    leftovers: (run) => orStoreError(leftovers(store, run)),
    verify: (runId) => orStoreError(verifyRun(store, runId)),
  }
}
