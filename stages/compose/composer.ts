import { getHeapStatistics } from 'node:v8'
import { AppError, hasCode } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { SpanRecorder } from '#domain/span.ts'
import type { Run, WantedPatch } from '#domain/run.ts'
import { unlessDeadly, untilStopped } from '#store/ledger/run-stage.ts'
import type { StopSignals } from '#store/ledger/stop-signals.ts'
import { untilAborted } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { openThreadPool, type ThreadAnswer } from '#platform/thread-pool.ts'
import { composeRun, type CompositionDeps } from './compose-run.ts'
import type { ComposeQuestion, ComposeReport } from './compose-thread.ts'

/** Includes what composing takes, for the runs that need no thread. */
export type ComposerDeps = CompositionDeps & {
  stops: Pick<StopSignals, 'on'>
  log: Pick<Log, 'error'>
  traces: SpanRecorder
  /** Takes the lines that its threads log; without it they go to stderr. */
  writeLog?: ((lines: string) => void) | undefined
}

export type Composer = {
  /** As `composeRun` does. `stalls`: how often a worker was lost doing it; five deaths fail the run (TOOL_004). Throws a fault that may pass. */
  compose(job: { runId: RunId; stalls: number }, signal: AbortSignal): Promise<void>
  /** As `composePatch` does; a thread that dies is noted as its fault (TOOL_004). Throws a fault that may pass. */
  composePatch(job: { runId: RunId; patch: WantedPatch }, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** No check of a file takes nearly as long. */
const mostStillMs = 120_000

export type ThreadLimits = {
  /** Limits the memory of the thread; by default it may have as much as this process. */
  memoryMb?: number
  /** Limits how long one step may keep its event loop busy, in ms of processor time; two minutes by default. */
  stillMs?: number
  /** Limits how long it lives on when there is nothing to compose, in ms; a minute by default. */
  idleMs?: number
  /** Is called before a thread starts. */
  beforeStart?: () => void
}

/**
 * Composes runs in a thread with its own connections, so that neither it nor the operations of this worker wait for the other. A run
 * that has changed nothing is ended without it.
 */
export function openComposer(
  worker: ComposeQuestion['worker'],
  deps: ComposerDeps,
  limits: ThreadLimits = {},
): Composer {
  const { ledger, log, traces } = deps
  const thread = openComposingThread('the composer', limits, deps)
  // Of its own, so that neither waits for the other, nor ends with it.
  const patchThread = openComposingThread('the patch composer', limits, deps)

  async function compose(job: { runId: RunId; stalls: number; why?: string }, signal: AbortSignal): Promise<void> {
    const { runId, stalls } = job
    const stage = { phases: ['review'], origin: { kind: 'worker', id: worker.workerId }, signal } as const
    let lost: string | undefined
    await unlessDeadly(runId, { ...stage, ...job }, ledger, () =>
      untilStopped(
        runId,
        async (own) => {
          if (hasNoChange(await ledger.getRun(runId))) return composeRun(runId, deps, own)
          const answer = await thread.ask({ runId, worker }, own)
          if (answer.kind !== 'lost') answer.report.spans.forEach(traces.record)
          if (answer.kind === 'lost') lost = answer.why
          else if (answer.report.fault !== undefined) throw faultOf(answer.report.fault)
        },
        deps,
        signal,
      ),
    )
    if (lost === undefined) return
    log.error('the thread that composed a run died', { run_id: runId, reason: lost })
    await compose({ runId, stalls: stalls + 1, why: lost }, signal)
  }

  async function composePatch({ runId, patch }: { runId: RunId; patch: WantedPatch }, signal: AbortSignal) {
    const answer = await patchThread.ask({ runId, patch, worker }, signal)
    if (answer.kind === 'lost') {
      log.error('the thread that composed a patch died', { run_id: runId, reason: answer.why })
      return noteLost({ runId, patch, why: answer.why }, ledger)
    }
    if (answer.report.fault !== undefined) throw faultOf(answer.report.fault)
  }
  return { compose, composePatch, close: async () => void (await Promise.all([thread.close(), patchThread.close()])) }
}

/** A change set comes of an operation that has succeeded; those of earlier generations are not counted any more. */
function hasNoChange({ counts, generation }: Pick<Run, 'counts' | 'generation'>): boolean {
  return generation === 1 && (counts.succeeded ?? 0) === 0
}

async function noteLost(
  { runId, patch: { of, part }, why }: { runId: RunId; patch: WantedPatch; why: string },
  ledger: ComposerDeps['ledger'],
): Promise<void> {
  const { last: decided } = await ledger.readDecisions(runId)
  const reason = `the thread that composed the patch died: ${why}`
  const note = { decided, errorCode: 'TOOL_004', reason, at: Date.now() }
  await (part === undefined ? ledger.notePatch(runId, { of, note }) : ledger.notePart(runId, { ...note, part }))
}

function faultOf({ code, message, cause }: NonNullable<ComposeReport['fault']>): AppError {
  return new AppError(code, message, { phase: 'review', cause })
}

/** The thread and its linter take 80 to 130 MB, and a second to start. */
const usualIdleMs = 60_000

function openComposingThread(
  name: string,
  { memoryMb = ownHeapMb(), stillMs: limitMs = mostStillMs, idleMs = usualIdleMs, beforeStart }: ThreadLimits,
  { writeLog: writeErrors }: Pick<ComposerDeps, 'writeLog'>,
) {
  const entry = new URL('./compose-thread.ts', import.meta.url)
  const limits = { threads: 1, memoryMb, limitMs, idleMs }
  // The AWS SDK may find its keys in the environment.
  const options = { entry, name, work: 'one step', env: 'inherited', writeErrors, beforeStart } as const
  const open = () => openThreadPool<ComposeQuestion, ComposeReport>({ ...options, ...limits })
  let pool = open()
  return {
    /** Throws the reason of `signal`, with which it ends the thread. */
    async ask(question: ComposeQuestion, signal: AbortSignal): Promise<ThreadAnswer<ComposeReport>> {
      try {
        return await untilAborted(pool.ask(question), signal)
      } catch (error) {
        if (signal.aborted) {
          const former = pool
          pool = open()
          await former.close()
        } else if (hasCode(error, 'TOOL_004')) return { kind: 'lost', item: -1, why: error.message }
        throw error
      }
    },
    close: () => pool.close(),
  }
}

function ownHeapMb(): number {
  return Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20)
}
