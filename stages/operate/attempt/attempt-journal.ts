import { AppError, asAppError } from '#domain/error.ts'
import type { AppendAnswer, Attempt } from '#store/ledger/attempt.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Doing } from '#store/ledger/live-state.ts'
import { after, untilAborted } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { type AgentEvent, type Journal, journalOver } from '../agent/journal.ts'
import type { Reserving } from '../agent/reserve-tokens.ts'
import { openDoing, type Untold } from './doing.ts'
import { type EventBatch, type EventBatches, openEventBatches } from './event-batches.ts'
import { openUntoldTalk, type UntoldTalk } from './untold-talk.ts'

/** Limits how long an event waits for others before it is sent: few commands, and still live for a person watching. */
const flushAfterMs = 100

export type AttemptJournal = Journal & {
  /** Tells from now on what is added to the transcript, together with events. */
  follow: UntoldTalk['follow']
  /** Is aborted with AGENT_010 when the ledger says to stop; `stopped` is then the reason. */
  readonly signal: AbortSignal
  /** `cancelled`: the run was cancelled. `lost`: another worker has the operation, and nothing of this attempt counts. */
  readonly stopped: 'cancelled' | 'lost' | undefined
  askNow(): void
  /** Reserves tokens once all events before it are counted; limited as far as the ledger's last answer says. */
  budget: Reserving['budget']
  /** Notes what the attempt does, for who looks at the run while it goes on. */
  does(kind: Untold): void
  /** Ends the heartbeats and returns the last batch, for the command that settles. `closing`: events that come with that command or not at all. */
  close(closing?: readonly AgentEvent[]): Promise<EventBatch>
}

/** Sends an attempt's events in small batches, and renews its lease while it runs. */
export function openAttemptJournal(
  attempt: Attempt,
  { workerId, ...deps }: AppendDeps & { workerId: string },
): AttemptJournal {
  const [talk, doing] = [openUntoldTalk(), openDoing()]
  const batches = openEventBatches({ workerId, attempt: attempt.attempt }, talk)
  const abort = new AbortController()
  let stopped: AttemptJournal['stopped']
  const stop = (why: 'cancelled' | 'lost', message: string) => {
    stopped = why
    abort.abort(new AppError('AGENT_010', message))
  }
  const send = async () => {
    const now = doing.untold()
    const { answer, reserve } = await appendNext(attempt, batches, { ...deps, doing: now })
    doing.wasTold(now)
    if (answer.kind === 'lost') stop('lost', 'the operation was given to another worker')
    else if (answer.stopRequested) stop('cancelled', 'the run was stopped')
    else reservation.answered(answer, reserve)
  }
  const sendAll = async () => {
    do await send()
    while (batches.waiting)
  }
  const reservation = openReservation(attempt, batches, () => beat.soon(0))
  const beat = openBeat(sendAll, () => Math.min(Math.max(50, Math.floor(attempt.leaseMs / 3)), talk.dueInMs()))
  const journal = journalOver((event) => {
    batches.add(event)
    doing.after(event)
    beat.soon(flushAfterMs)
  })
  return {
    ...journal,
    follow: talk.follow,
    askNow: () => beat.soon(0),
    budget: reservation.budget,
    does(kind) {
      doing.does(kind)
      beat.soon(flushAfterMs)
    },
    signal: abort.signal,
    get stopped() {
      return stopped
    },
    async close(closing = []) {
      await beat.stop()
      return lastBatch(batches, { send, sendAll }, closing)
    },
  }
}

type Sends = { send(): Promise<void>; sendAll(): Promise<void> }

async function lastBatch(batches: EventBatches, { send, sendAll }: Sends, closing: readonly AgentEvent[]) {
  if (batches.inFlight) await sendAll() // not with the command that ends it: one of them may be refused
  batches.next()
  for (; batches.waiting; batches.next()) await send()
  return batches.lastWith(closing)
}

/** `answered` is to be called with each answer, and with what was reserved by it. */
function openReservation(attempt: Attempt, batches: Pick<EventBatches, 'reserve'>, sendNow: () => void) {
  let { isLimited } = attempt
  let reserving: PromiseWithResolvers<boolean> | undefined
  const budget: Reserving['budget'] = {
    get isLimited() {
      return isLimited
    },
    reserve(tokens, signal) {
      reserving = Promise.withResolvers()
      batches.reserve(tokens)
      sendNow()
      return untilAborted(reserving.promise, signal)
    },
  }
  return {
    budget,
    answered(answer: Exclude<AppendAnswer, { kind: 'lost' }>, reserved: number | undefined) {
      isLimited = answer.budget !== undefined
      if (reserved !== undefined) reserving?.resolve(answer.budget !== 'full')
    },
  }
}

type AppendDeps = { ledger: Pick<Ledger, 'append'>; log: Pick<Log, 'warn'> }

/**
 * An event that a reachable store refuses is dropped: sending it again for ever would cost the lease. So would waiting for the object
 * store with what was said.
 */
async function appendNext(
  attempt: Attempt,
  batches: EventBatches,
  { ledger, log, doing }: AppendDeps & { doing: Doing | undefined },
): Promise<{ answer: AppendAnswer; reserve: number | undefined }> {
  for (;;) {
    const { n, events, talk, reserve } = batches.next()
    try {
      const answer = await ledger.append(attempt, n, { events, doing, talk, reserve })
      batches.arrived()
      return { answer, reserve }
    } catch (error) {
      const isAway = isStoreFault(asAppError(error, 'TOOL_004'))
      if (talk === undefined && (isAway || events.length === 0)) throw error
      if (!isAway) log.warn('events not written', { operation_id: attempt.operationId, error })
      batches.reduce({ forGood: !isAway })
    }
  }
}

type Beat = { soon(ms: number): void; stop(): Promise<void> }

/** Calls `send` after `restMs`, again and again, or sooner when asked, never twice at a time. A failed call is repeated at the next beat. */
function openBeat(send: () => Promise<void>, restMs: () => number): Beat {
  let sending: Promise<void> | undefined
  let cancel: (() => void) | undefined
  let dueAt = Infinity
  let stopped = false
  let askedAgain = false

  const soon = (ms: number) => {
    const at = performance.now() + ms
    if (stopped || at >= dueAt) return
    cancel?.()
    dueAt = at
    cancel = after(ms, fire)
  }
  const fire = () => {
    dueAt = Infinity
    askedAgain = sending !== undefined
    if (askedAgain) return
    sending = send()
      .catch(() => undefined)
      .finally(() => {
        sending = undefined
        soon(askedAgain ? 0 : restMs())
      })
  }
  soon(restMs())
  return {
    soon,
    async stop() {
      stopped = true
      cancel?.()
      await sending
    },
  }
}

/** Tells whether a retry may help: the store is unreachable, as opposed to an object that is wrong. */
export function isStoreFault(fault: AppError): boolean {
  return fault.code === 'STORE_001' || fault.code === 'STORE_002'
}
