import type { Escalation, InboxMessage } from '#domain/agenda.ts'
import { hasCode } from '#domain/error.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import type { WatchThresholds, WatchWindow } from '#domain/events/watcher-events.ts'
import { newToken, type RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { KeptWatch, OwnQuestion } from '#store/ledger/watch.ts'
import { openSpending } from '#stages/operate/agent/typed-submission.ts'
import { watchClock, watchEvents } from './detectors.ts'
import { type Review, type Reviewer, reviewWindow } from './review-window.ts'
import { unwatched, WatchState } from './watch-state.ts'

export type WatchDeps = {
  ledger: Pick<
    Ledger,
    'getRun' | 'keepWatch' | 'readEvents' | 'readWatch' | 'reserve' | 'sendToConductor' | 'whileHolding'
  >
  reviewer: Reviewer
  thresholds: WatchThresholds
  origin: EventOrigin
  /** Returns ms since the epoch by the ledger's clock. */
  now(): Promise<number>
}

/** `isDone`: nothing is left to do before the run has further events, or time has passed. */
type Step = Pick<KeptWatch, 'events' | 'questions'> & { state: WatchState; isDone: boolean }
/** `token`: of the lease of who watches now. */
type Watched = { run: Run; state: WatchState; token: string }

/**
 * Does all that is to be done for a run until now: takes in its events, has windows reviewed, raises escalations. Each step is kept, with
 * its events, before the next begins: when the process is killed, another one goes on there, and nothing is raised twice. False when
 * another process watches the run at this moment.
 */
export async function watchRun(runId: RunId, deps: WatchDeps, signal: AbortSignal): Promise<boolean> {
  const token = newToken()
  const watched = await deps.ledger
    .whileHolding(runId, 'watching', async (lost, held) => {
      const either = AbortSignal.any([signal, lost])
      const kept = await deps.ledger.readWatch(runId)
      let { version } = kept
      const state = kept.state === undefined ? unwatched : WatchState.parse(kept.state)
      for (let step: Step = { state, events: [], isDone: false }; !step.isDone;) {
        const run = await deps.ledger.getRun(runId)
        version += 1
        step = await nextStep({ run, state: step.state, token: held }, deps, either)
        if ((await deps.ledger.keepWatch(runId, { token, version, ...step })) === 'lost') return false
      }
      return true
    })
    .catch((error: unknown) => {
      if (!hasCode(error, 'RUN_001', 'RUN_005', 'STORE_003')) throw error
      return true // it was deleted, is for a newer version to watch, or its events are gone
    })
  return watched ?? false
}

async function nextStep(watched: Watched, deps: WatchDeps, signal: AbortSignal): Promise<Step> {
  const { run, state } = watched
  signal.throwIfAborted()
  // What was to be decided about a run is over with it.
  if (isEnded(run.status)) return takeEvents({ ...watched, state: { ...state, pending: [], raising: [] } }, deps)
  if (state.raising.length > 0) return raise(watched, deps)
  const [window] = state.pending
  return window === undefined ? takeEvents(watched, deps) : reviewed(watched, window, deps, signal)
}

const eventsAtOnce = 500

async function takeEvents({ run, state: before }: Watched, { ledger, thresholds, now }: WatchDeps): Promise<Step> {
  const by = { thresholds, budget: run.budget }
  const events = await ledger.readEvents(run.runId, { after: before.cursor, limit: eventsAtOnce })
  const isLast = events.length < eventsAtOnce
  const taken = watchEvents(before, events, by)
  const state = isLast && run.status === 'running' ? watchClock(taken, await now(), by) : taken
  return { state, events: [], isDone: isLast && (state.pending.length === 0 || isEnded(run.status)) }
}

/** The last events of a window are those that show the trouble. */
const reviewedEvents = 500
const keptKeys = 50

async function reviewed(
  { run, state, token }: Watched,
  window: WatchWindow,
  deps: WatchDeps,
  signal: AbortSignal,
): Promise<Step> {
  const { from_seq: from, to_seq: to } = window
  const after = Math.max(from - 1, to - reviewedEvents)
  const events = await deps.ledger.readEvents(run.runId, { after, limit: to - after })
  const seen = events.filter(({ origin }) => origin.kind !== 'watcher')
  const of = { by: 'watch', token } as const
  const spending = openSpending(run, (tokens) => deps.ledger.reserve(run.runId, { of, tokens }))
  const review = await reviewWindow(deps.reviewer, { run, window, events: seen, spending }, signal)
  const pending = state.pending.filter((one) => one !== window)
  if (review.kind === 'failed') {
    const { code, reason, cost } = review
    const data = { ...window, ...(code === undefined ? {} : { error_code: code }), reason, ...cost }
    const failed = { event: 'watcher.failed', status: 'error', data, ...headOf(run, deps) } as const
    return {
      state: { ...state, pending },
      events: [code === undefined ? failed : { ...failed, errorCode: code }],
      isDone: false,
    }
  }
  const at = await deps.now()
  const known = new Map(
    Object.entries(state.raised).filter(([, raised]) => at - raised < deps.thresholds.cool_down_s * 1000),
  )
  const raising = review.escalations.flatMap((escalation, index) => {
    if (known.has(escalation.dedup_key)) return []
    known.set(escalation.dedup_key, at)
    return { ...escalation, from_seq: from, to_seq: to, command: `${window.kind}-${to}-${index}` }
  })
  const raised = Object.fromEntries([...known].slice(-keptKeys))
  const event = reviewedEvent(window, review, { run, deps, seen: seen.length, raising: raising.length })
  return { state: { ...state, pending, raising, raised }, events: [event], isDone: false }
}

function reviewedEvent(
  window: WatchWindow,
  { escalations, summary, cost }: Extract<Review, { kind: 'reviewed' }>,
  { run, deps, seen, raising }: { run: Run; deps: WatchDeps; seen: number; raising: number },
): NewEvent {
  const verdict = raising > 0 ? 'escalated' : escalations.length > 0 ? 'known' : 'nothing'
  const data = { ...window, seen, verdict, summary: summary.slice(0, 500), escalations: raising } as const
  return { event: 'watcher.reviewed', data: { ...data, thresholds: deps.thresholds, ...cost }, ...headOf(run, deps) }
}

function headOf({ phase }: Pick<Run, 'phase'>, { origin }: Pick<WatchDeps, 'origin'>) {
  return { phase, origin }
}

const acts = { 'cancel the run': 'cancel', 'retry what failed': 'retry' } as const
const choicesFor: Readonly<Partial<Record<Escalation['mitigation'], readonly (keyof typeof acts)[]>>> = {
  request_human: ['cancel the run'],
  terminate: ['cancel the run'],
  retry: ['retry what failed', 'cancel the run'],
}

/**
 * Sends escalations to the run's conductor. Where there is none, their events are added with the state, and those that somebody must act on are
 * questions about the run.
 */
async function raise({ run, state }: Watched, deps: WatchDeps): Promise<Step> {
  const events: NewEvent[] = []
  const questions: OwnQuestion[] = []
  for (const { command, from_seq, to_seq, ...escalation } of state.raising) {
    const event: NewEvent = {
      event: 'escalation.raised',
      data: { ...escalation, from_seq, to_seq },
      ...headOf(run, deps),
    }
    const message: InboxMessage = { kind: 'escalation', escalation }
    const sent = await deps.ledger.sendToConductor(run.runId, message, {
      command,
      origin: deps.origin,
      events: [event],
    })
    if (sent !== 'over') continue
    const { kind, urgency, mitigation, rationale } = escalation
    const choices = choicesFor[mitigation]
    const text = `${kind}, urgency ${urgency}: ${rationale}`
    if (choices !== undefined)
      questions.push({ bundle: 'watcher', text, choices: ['continue', ...choices], acts, after: events.length })
    events.push(event)
  }
  return { state: { ...state, raising: [] }, events, questions, isDone: false }
}
