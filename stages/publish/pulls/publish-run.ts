import { branchOf, type BranchRuns } from '#code-hosts/branch-runs.ts'
import { Delivery } from '#code-hosts/delivery.ts'
import type { DeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import { pauseAfter } from '#code-hosts/code-host-busy.ts'
import { requireGenuine } from '#domain/genuine-run.ts'
import { AppError, asAppError, undefinedOn } from '#domain/error.ts'
import { type RunId, sha256 } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { Publication } from '#domain/publication.ts'
import { begunAt, isEnded, type Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Metrics } from '#platform/metrics/open-metrics.ts'
import type { Log } from '#platform/log.ts'
import { type CheckDeps, endCheck, progressMs, tellProgress } from './tell-check.ts'
import { publishPulls, type PullsDeps } from './publish-pulls.ts'
import type { Places, PublishingRuns } from './publishing-runs.ts'
import { type Note, openRunHost, type RunHostDeps } from './run-host.ts'

export type PublishDeps = RunHostDeps &
  CheckDeps &
  PullsDeps & {
    ledger: Pick<Ledger, 'getRun' | 'mayWantRetry' | 'notePublication' | 'readTally'>
    inbox: Pick<DeliveryInbox, 'put'>
    publishing: PublishingRuns
    places: Places
    branchRuns: Pick<BranchRuns, 'complete'>
    /**
     * Does the work while nobody else does any for the repository, or the run; undefined, without doing it, while somebody does. The
     * signal is aborted when somebody else may do it meanwhile.
     */
    inTurn<T>(of: number | RunId, work: (lost: AbortSignal) => Promise<T>): Promise<T | undefined>
    log: Pick<Log, 'info' | 'warn'>
    metrics: Pick<Metrics, 'count'>
  }

const origin = { kind: 'publisher', id: 'github' } as const
const soonMs = 2_000
const laterMs = 30_000
/** The publisher looks so often whether the time of a schedule has come. */
const scheduleMs = 5 * 60_000
/** Means that there are as many pull requests as there may be. */
const noRoom = 'PUBLISH_003'
/** The publisher looks so often, and for so long, whether there is room for another pull request. */
const roomMs = 30 * 60_000
const roomForMs = 7 * 86_400_000
/** A fault that lasts longer is given up: one that may pass as late as a webhook is, one that nobody has foreseen sooner. */
const mayPassForMs = 24 * 3_600_000
const unforeseenForMs = 3_600_000
/** The longer it fails, the more rarely it is tried. */
const pauseShare = 0.1
const longestPauseMs = 10 * 60_000

/**
 * Does what is left to do at the code host for a run: its check run, and in the end its pull requests. Each step is kept in the run, so that
 * a call that was killed goes on where it was. What may pass (HOST_001, a store) is tried again for a day, what nobody has foreseen for an hour;
 * then, and with any other fault at once, the publication ends with its reason, and the run stays as it is.
 */
export async function publishRun(runId: RunId, deps: PublishDeps, signal: AbortSignal): Promise<void> {
  const { ledger, places, publishing } = deps
  // A run that cannot be read fails in its turn.
  const run = await ledger.getRun(runId).catch(() => undefined)
  const leavePlace = places.take(run?.request.repository?.installationId ?? 0)
  if (leavePlace === undefined) return publishing.end(await publishing.begin(runId), Date.now() + soonMs)
  try {
    await lookInTurn(runId, deps, signal)
  } finally {
    leavePlace()
  }
}

async function lookInTurn(runId: RunId, deps: PublishDeps, signal: AbortSignal): Promise<void> {
  // The queue may lose a job that somebody works on, and give it out again: two would make two check runs.
  const look = (lost: AbortSignal) => lookAtRun(runId, deps, AbortSignal.any([signal, lost])).then(() => true)
  const done = await deps.inTurn(runId, look)
  if (done === undefined) await deps.publishing.look(runId, Date.now() + soonMs)
}

async function lookAtRun(runId: RunId, deps: PublishDeps, signal: AbortSignal): Promise<void> {
  const { ledger, publishing, log } = deps
  const look = await publishing.begin(runId)
  const run = await ledger.getRun(runId).catch(undefinedOn('RUN_001'))
  const source = run?.request.repository
  if (run === undefined || source === undefined) return publishing.end(look, 'never')
  const forgery = forgeryIn(run)
  if (forgery !== undefined) {
    await refuseForged(run, forgery, deps)
    return publishing.end(look, 'never')
  }
  if (run.status === 'completed' && !(await hasStale(run, ledger)))
    await deps.branchRuns.complete(branchOf(source), runId)
  if (isEnded(run.status) && run.publication?.newer !== undefined) await takeNewer(runId, run.publication.newer, deps)
  try {
    const next = await doSteps(run, deps, signal)
    await publishing.endFailing(runId)
    // A rejection may have the run reopened a moment after its end: then there will be more to publish.
    const isOver = next === 'settled' && !(await ledger.mayWantRetry(runId))
    await publishing.end(look, isOver ? 'never' : Date.now() + (next === 'settled' ? laterMs : next))
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
    const pauseMs = await pauseBefore(runId, error, deps)
    if (pauseMs !== undefined) return publishing.end(look, Date.now() + pauseMs)
    const isOver = await endWithFault(run, fault, deps, signal)
    await publishing.endFailing(runId)
    await publishing.end(look, isOver ? 'never' : Date.now() + laterMs)
  }
}

/** Tells whether a push has kept the run from some of its work; later pushes are not compared with such a run. */
async function hasStale({ runId, request }: Run, ledger: PublishDeps['ledger']): Promise<boolean> {
  return request.approval !== undefined && (await ledger.readTally(runId)).has('items.stale')
}

/** Has a delivery that came while the run waited handled once more: once, since it is known after that. */
async function takeNewer(runId: RunId, newer: string, { inbox }: PublishDeps): Promise<void> {
  const deliveryId = `newer-${runId}`
  await inbox.put({ ...Delivery.parse(parseJson(newer)), deliveryId, bodyHash: sha256(deliveryId) })
}

/**
 * Returns the fault of a publication that neither the API nor the publisher has written. Where it leads to is not
 * asked, and the code host is told nothing.
 */
function forgeryIn(run: Run): AppError | undefined {
  const message = `what was kept of the publication of run ${run.runId} is not as it was signed: ask for it again`
  if (run.unsigned.includes('publication')) return new AppError('PUBLISH_005', message)
  try {
    requireGenuine(run)
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'PUBLISH_005') return error
    throw error
  }
}

async function refuseForged(run: Run, fault: AppError, { ledger, log }: PublishDeps): Promise<void> {
  log.warn('a publication is refused', { run_id: run.runId, error_code: fault.code, error: fault.message })
  await noteFault(fault, openNote(run, ledger).note)
}

/** Returns how many ms later it is tried again; undefined when it is given up. */
async function pauseBefore(runId: RunId, error: unknown, deps: PublishDeps): Promise<number | undefined> {
  const isForeseen = error instanceof AppError
  if (isForeseen && !error.retry) return undefined
  const failedMs = Date.now() - (await deps.publishing.failingSince(runId))
  if (failedMs >= (isForeseen ? mayPassForMs : unforeseenForMs)) return undefined
  return pauseAfter(error, Math.max(laterMs, Math.min(failedMs * pauseShare, longestPauseMs)))
}

/** Returns how many ms later there is something to do again. */
async function doSteps(run: Run, deps: PublishDeps, signal: AbortSignal): Promise<number | 'settled'> {
  const { note, isAlone } = openNote(run, deps.ledger)
  const publication = await note({})
  const host = await openRunHost(run, deps, signal)
  if (!isEnded(run.status)) {
    await tellProgress(run, { publication, note, host }, deps)
    const isPinned = run.commit !== null || run.request.repository?.commit !== undefined
    return isPinned ? nextLookMs(begunAt(run), progressMs) : soonMs
  }
  // Two runs of a branch would write it over each other.
  const publishing = async (lost: AbortSignal) => {
    const either = AbortSignal.any([signal, lost])
    return publishPulls(run, { publication, note, host: await openRunHost(run, deps, either) }, deps, either)
  }
  const pulls = await deps.inTurn(host.source.repository.id, publishing).catch(async (error: unknown) => {
    if (!(error instanceof AppError) || error.retry) throw error
    await noteFault(error, note)
    return { kind: error.code === noRoom ? ('full' as const) : ('done' as const), held: undefined }
  })
  if (pulls === undefined) return soonMs
  if (pulls.kind === 'coming') return nextLookMs(run.endedAt, laterMs)
  const known = await note({})
  // A run of a later push may have what there was no room for.
  const isPast = pulls.kind === 'done' && known.fault?.errorCode === noRoom
  const told = isPast ? await note({ fault: null }) : known
  await endCheck(run, { publication: told, note, host, held: pulls.held }, deps)
  if (pulls.kind === 'waiting') return scheduleMs
  if (pulls.kind === 'full' && Date.now() - (told.fault?.at ?? 0) < roomForMs) return roomMs
  countSettled(await note({ isSettled: true }), deps.metrics)
  // Somebody who asked for something meanwhile is not kept waiting.
  return isAlone() ? 'settled' : soonMs
}

/** A run, and the proof of its patch, is looked at more rarely the longer it takes. */
function nextLookMs(began: number | null, mostMs: number): number {
  const waitedMs = Date.now() - (began ?? Date.now())
  return Math.min(mostMs, Math.max(soonMs, waitedMs / 4))
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

/** The same fault is told once, and is as old as when it came first. */
async function noteFault({ code: errorCode, message: reason }: AppError, note: Note): Promise<void> {
  const { fault } = await note({})
  const data = { error_code: errorCode, reason }
  const event = { event: 'publication.failed', phase: 'publication', status: 'error', errorCode, origin, data } as const
  const isSame = fault?.errorCode === errorCode
  const isTold = isSame && fault.reason === reason
  const noted = { errorCode, reason, at: isSame ? fault.at : Date.now() }
  await note({ fault: noted, isSettled: errorCode !== noRoom }, isTold ? [] : [event])
}

/** Is false when the run itself goes on, and when it has ended it is tried again; or somebody has asked for something meanwhile. */
async function endWithFault({ runId }: Run, fault: AppError, deps: PublishDeps, signal: AbortSignal): Promise<boolean> {
  // What was done until the fault has changed it.
  const run = await deps.ledger.getRun(runId)
  const { note, isAlone } = openNote(run, deps.ledger)
  await noteFault(fault, note)
  if (isEnded(run.status)) await tellFault(run, { note, signal }, deps)
  return isEnded(run.status) && isAlone()
}

/** Shows the fault in the check run, if the host takes it: nobody comes back to that. */
async function tellFault(
  run: Run,
  { note, signal }: { note: Note; signal: AbortSignal },
  deps: PublishDeps,
): Promise<void> {
  try {
    const host = await openRunHost(run, deps, signal)
    await endCheck(run, { publication: await note({}), note, host, held: undefined }, deps)
  } catch (error) {
    deps.log.warn('a check run does not say what has failed', { run_id: run.runId, error: String(error) })
  }
}

/** Counts that nothing is left to do for a run for now; a fault is counted when it is told. */
function countSettled({ fault, pulls }: Publication, { count }: Pick<Metrics, 'count'>): void {
  if (fault !== null) return
  const outcome = pulls.some(({ state }) => state === 'open') ? 'published' : 'without'
  count('remora_publications_total', { outcome, error_code: '' })
}
