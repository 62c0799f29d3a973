import type { BranchRuns } from '#code-hosts/branch-runs.ts'
import { pauseAfter } from '#code-hosts/code-host-busy.ts'
import { AppError, asAppError, undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import { Publication } from '#domain/publication.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Metrics } from '#metrics/open-metrics.ts'
import type { Log } from '#platform/log.ts'
import { countSettled } from '../publisher-metrics.ts'
import { branchOf } from '../deliveries/look-at-branch.ts'
import { type CheckDeps, endCheck, progressMs, tellProgress } from './tell-check.ts'
import { publishPulls, type PullsDeps } from './publish-pulls.ts'
import type { PublishingRuns } from './publishing-runs.ts'
import { type Note, openRunHost, type RunHostDeps } from './run-host.ts'

export type PublishDeps = RunHostDeps &
  CheckDeps &
  PullsDeps & {
    ledger: Pick<Ledger, 'getRun' | 'notePublication'>
    publishing: PublishingRuns
    branchRuns: Pick<BranchRuns, 'complete'>
    /** Does the work while nobody else does any for the repository, or the run; undefined, without doing it, while somebody does. */
    inTurn<T>(of: number | RunId, work: () => Promise<T>): Promise<T | undefined>
    log: Pick<Log, 'info' | 'warn'>
    metrics: Pick<Metrics, 'count'>
  }

const origin = { kind: 'publisher', id: 'github' } as const
const soonMs = 2_000
const laterMs = 30_000
/** How often it is looked whether the time of a schedule has come. */
const scheduleMs = 5 * 60_000

/**
 * Does what is left to do at the code host for a run: its check run, and in the end its pull requests. Each step is kept in the run, so that
 * a call that was killed goes on where it was. What may pass (HOST_001, a store) is tried again later; anything else ends the publication
 * with its reason, and the run stays as it is.
 */
export async function publishRun(runId: RunId, deps: PublishDeps, signal: AbortSignal): Promise<void> {
  // The queue may lose a job that somebody works on, and give it out again: two would make two check runs.
  const done = await deps.inTurn(runId, () => lookAtRun(runId, deps, signal).then(() => true))
  if (done === undefined) await deps.publishing.look(runId, Date.now() + soonMs)
}

async function lookAtRun(runId: RunId, deps: PublishDeps, signal: AbortSignal): Promise<void> {
  const { ledger, publishing, log } = deps
  const look = await publishing.begin(runId)
  const run = await ledger.getRun(runId).catch(undefinedOn('RUN_001'))
  const source = run?.request.repository
  if (run === undefined || source === undefined) return publishing.end(look, 'never')
  if (run.status === 'completed') await deps.branchRuns.complete(branchOf(source), runId)
  try {
    const next = await doSteps(run, deps, signal)
    await publishing.end(look, next === 'settled' ? 'never' : Date.now() + next)
  } catch (error) {
    if (signal.aborted) await publishing.end(look, Date.now())
    signal.throwIfAborted()
    const fault = asAppError(error, 'HTTP_007')
    log.warn('a publication failed', {
      run_id: runId,
      error_code: fault.code,
      error: fault.message,
      retry: fault.retry,
    })
    if (fault.retry || !(error instanceof AppError)) {
      return publishing.end(look, Date.now() + pauseAfter(fault, laterMs))
    }
    const isOver = await endWithFault(run, fault, deps)
    await publishing.end(look, isOver ? 'never' : Date.now() + laterMs)
  }
}

/** How many ms later there is something to do again. */
async function doSteps(run: Run, deps: PublishDeps, signal: AbortSignal): Promise<number | 'settled'> {
  const { note, isAlone } = openNote(run, deps.ledger)
  const publication = await note({})
  const host = await openRunHost(run, deps)
  if (!isEnded(run.status)) {
    await tellProgress(run, { publication, note, host }, deps)
    return run.commit === null && run.request.repository?.commit === undefined ? soonMs : progressMs
  }
  // Two runs of a branch would write it over each other.
  const publishing = () => publishPulls(run, { publication, note, host }, deps, signal)
  const pulls = await deps.inTurn(host.source.repository.id, publishing).catch(async (error: unknown) => {
    if (!(error instanceof AppError) || error.retry) throw error
    await noteFault(error, note)
    return { kind: 'done' as const, held: undefined }
  })
  if (pulls === undefined) return soonMs
  if (pulls.kind === 'coming') return whileProved(run)
  const told = await note({})
  await endCheck(run, { publication: told, note, host, held: pulls.held }, deps)
  if (pulls.kind === 'waiting') return scheduleMs
  countSettled(await note({ isSettled: true }), deps.metrics)
  // Somebody who asked for something meanwhile is not kept waiting.
  return isAlone() ? 'settled' : soonMs
}

/** A worker proves the patch, which takes as long as the gate does: each look costs requests. */
function whileProved({ endedAt }: Pick<Run, 'endedAt'>): number {
  const waitedMs = Date.now() - (endedAt ?? Date.now())
  return Math.min(laterMs, Math.max(soonMs, waitedMs / 4))
}

/** Every write is on top of the one before; somebody else's in between (a person's wish) is kept. */
function openNote(run: Run, ledger: PublishDeps['ledger']): { note: Note; isAlone(): boolean } {
  let isAlone = true
  let known = run.publication ?? Publication.parse({})
  const note: Note = async (change, events = []) => {
    const changeOf = typeof change === 'function' ? change : () => change
    if (typeof change !== 'function' && Object.keys(change).length === 0 && events.length === 0) return known
    for (;;) {
      const publication = { ...known, ...changeOf(known) }
      const noted = await ledger.notePublication(run.runId, { publication, events })
      if (noted !== undefined) return (known = noted)
      isAlone = false
      known = (await ledger.getRun(run.runId)).publication ?? known
    }
  }
  return { note, isAlone: () => isAlone }
}

/** The same fault is told once. */
async function noteFault({ code: errorCode, message: reason }: AppError, note: Note): Promise<void> {
  const { fault } = await note({})
  const data = { error_code: errorCode, reason }
  const event = { event: 'publication.failed', phase: 'publication', status: 'error', errorCode, origin, data } as const
  const isTold = fault?.errorCode === errorCode && fault.reason === reason
  await note({ fault: { errorCode, reason, at: Date.now() }, isSettled: true }, isTold ? [] : [event])
}

/** False: the run itself goes on, and when it has ended it is tried again; or somebody has asked for something meanwhile. */
async function endWithFault({ runId }: Run, fault: AppError, { ledger }: PublishDeps): Promise<boolean> {
  // What was done until the fault has changed it.
  const run = await ledger.getRun(runId)
  const { note, isAlone } = openNote(run, ledger)
  await noteFault(fault, note)
  return isEnded(run.status) && isAlone()
}
