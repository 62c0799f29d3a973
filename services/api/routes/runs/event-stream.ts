import { AppError } from '#domain/error.ts'
import { type Event, wireEvent } from '#domain/event.ts'
import type { EventCategory } from '#domain/events/event-table.ts'
import { isEnded, type Run, type RunStatus } from '#domain/run.ts'
import { delay } from '#platform/clock.ts'
import type { Ledger } from '#store/ledger/ledger.ts'

export type EventSource = Pick<Ledger, 'getRun' | 'readEvents'>
export type StreamQuery = { after: number; category: EventCategory | undefined }
export type StreamOptions = { source: EventSource; heartbeatMs?: number }

const pageSize = 200
const defaultHeartbeatMs = 15_000
/** A client is asked to wait so long before it connects again. */
const reconnectMs = 2_000
const pollMs = 200
/** Nothing is asked of a store for so long after it did not answer. */
const restMs = 1_000

/**
 * Each text has whole frames: an unnamed event per event of the run, with its number as `id`, and `end` with the status at the
 * run's end. A client whose stream stops without `end` connects again with its last id. After a silence there is a comment with
 * the last number that was read.
 */
export async function* eventStream(
  run: Run,
  query: StreamQuery,
  { source, heartbeatMs = defaultHeartbeatMs }: StreamOptions,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  yield `retry: ${reconnectMs}\n\n`
  let sentAt = performance.now()
  for (let after = query.after; !signal.aborted;) {
    const waitMs = sentAt + heartbeatMs - performance.now()
    const page = await nextEvents(run, { after, limit: pageSize, waitMs }, source, signal)
    after = page.nextAfter
    const frames = framesOf(page.events, query.category)
    if (frames !== '') yield frames
    else if (performance.now() >= sentAt + heartbeatMs) yield `: heartbeat\nid: ${after}\n\n`
    else if (!page.isLast) continue
    sentAt = performance.now()
    if (!page.isLast) continue
    yield frame({ event: 'end', id: after, data: { run_id: run.runId, status: page.status } })
    return
  }
}

/** `isLast`: the run has ended, and has no events after these. */
type NextEvents = { events: readonly Event[]; nextAfter: number; status: RunStatus; isLast: boolean }

/** Waits up to `waitMs`, or until `signal` is aborted, for events after number `after`, also while a store does not answer. */
export async function nextEvents(
  { runId, status: knownStatus }: Run,
  { after, limit, waitMs }: { after: number; limit: number; waitMs: number },
  source: EventSource,
  signal: AbortSignal,
): Promise<NextEvents> {
  const deadline = performance.now() + waitMs
  for (let status = knownStatus; ;) {
    let pauseMs = pollMs
    try {
      const now = await source.getRun(runId)
      status = now.status
      const events = now.seq > after ? await source.readEvents(runId, { after, limit }) : []
      const nextAfter = events.at(-1)?.seq ?? after
      // There are more than `seq` when it was reopened since.
      const isLast = isEnded(status) && (events.length === 0 || nextAfter === now.seq)
      if (events.length > 0 || isLast) return { events, nextAfter, status, isLast }
    } catch (error) {
      if (!(error instanceof AppError && error.retry)) throw error
      pauseMs = restMs
    }
    const leftMs = deadline - performance.now()
    if (leftMs <= 0 || signal.aborted) return { events: [], nextAfter: after, status, isLast: false }
    await delay(Math.min(pauseMs, leftMs), signal).catch(() => undefined)
  }
}

function framesOf(events: readonly Event[], category: EventCategory | undefined): string {
  return events
    .filter((event) => category === undefined || event.category === category)
    .map((event) => frame({ id: event.seq, data: wireEvent(event) }))
    .join('')
}

/** JSON has no line breaks of its own, so `data` is one line. */
function frame({ event, id, data }: { event?: string; id: number; data: object }): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  return `${name}id: ${id}\ndata: ${JSON.stringify(data)}\n\n`
}
