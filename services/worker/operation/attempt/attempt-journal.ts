import { AppError } from '#domain/error.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { after } from '#platform/clock.ts'
import { journalOver, type Journal } from '../../agent/journal.ts'
import { openEventBatches, type EventBatch } from './event-batches.ts'

/** How long an event may wait for company before it is sent: fewer commands, still live to a person. */
const flushAfterMs = 100

export type AttemptJournal = Journal & {
  /** Aborted with AGENT_010 when the ledger says to stop; `stopped` then says why. */
  readonly signal: AbortSignal
  /** `cancelled`: the run was. `lost`: the operation is another worker's, and nothing of this attempt counts. */
  readonly stopped: 'cancelled' | 'lost' | undefined
  /** Asks the ledger at once, instead of at the next heartbeat, whether to stop. */
  askNow(): void
  /** Ends the heartbeats. What has not been sent goes with the command that settles the attempt. */
  close(): Promise<EventBatch>
}

/** Sends an attempt's events in small batches, and keeps its lease alive while it runs. */
export function openAttemptJournal(attempt: Attempt, ledger: Pick<Ledger, 'append'>, workerId: string): AttemptJournal {
  const batches = openEventBatches(workerId)
  const abort = new AbortController()
  let stopped: AttemptJournal['stopped']
  const stop = (why: 'cancelled' | 'lost', message: string) => {
    stopped = why
    abort.abort(new AppError('AGENT_010', message))
  }
  const send = async () => {
    const { n, events } = batches.next()
    const answer = await ledger.append(attempt, n, events)
    batches.arrived()
    if (answer.kind === 'lost') stop('lost', 'the operation was given to another worker')
    else if (answer.stopRequested) stop('cancelled', 'the run was stopped')
  }
  const beat = openBeat(send, Math.max(50, Math.floor(attempt.leaseMs / 3)))
  const journal = journalOver((event) => {
    batches.add(event)
    beat.soon(flushAfterMs)
  })
  return {
    ...journal,
    askNow: () => beat.soon(0),
    signal: abort.signal,
    get stopped() {
      return stopped
    },
    async close() {
      await beat.stop()
      if (batches.underway) await send()
      return batches.next()
    },
  }
}

type Beat = { soon(ms: number): void; stop(): Promise<void> }

/**
 * Calls `send` every `everyMs`, or sooner when asked; never twice at a time. A failed call is made again at the next
 * beat.
 */
function openBeat(send: () => Promise<void>, everyMs: number): Beat {
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
        soon(askedAgain ? 0 : everyMs)
      })
  }
  soon(everyMs)
  return {
    soon,
    async stop() {
      stopped = true
      cancel?.()
      await sending
    },
  }
}
