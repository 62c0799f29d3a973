import { AppError } from '#domain/error.ts'
import { type Event, type EventCategory, wireEvent } from '#domain/event.ts'
import type { Run } from '#domain/run.ts'
import { delay } from '#platform/clock.ts'
import type { EventReader, EventReaders, NextEvents } from './event-readers.ts'

export type StreamQuery = { after: number; category: EventCategory | undefined }
export type StreamOptions = { readers: EventReaders; heartbeatMs?: number }

const pageSize = 200
const defaultHeartbeatMs = 15_000
/** A client is asked to wait so long before it connects again. */
const reconnectMs = 2_000
/** The client's connection stays open so long after a store did not answer. */
const restMs = 1_000

/**
 * Each text has whole frames: an unnamed event per event of the run, with its number as `id`, and `end` with the status at the
 * run's end. A client whose stream stops without `end` connects again with its last id. After a silence there is a comment with
 * the last number that was read.
 */
export async function* eventStream(
  run: Run,
  query: StreamQuery,
  { readers, heartbeatMs = defaultHeartbeatMs }: StreamOptions,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const reader = readers.join(run)
  try {
    yield `retry: ${reconnectMs}\n\n`
    let sentAt = performance.now()
    for (let after = query.after; !signal.aborted;) {
      const waitMs = sentAt + heartbeatMs - performance.now()
      const page = await nextPage(reader, after, { limit: pageSize, waitMs, signal })
      if (page !== undefined) after = page.after
      const frames = framesOf(page?.events ?? [], query.category)
      if (frames !== '') yield frames
      else if (performance.now() >= sentAt + heartbeatMs) yield `: heartbeat\nid: ${after}\n\n`
      else if (page?.isLast !== true) continue
      sentAt = performance.now()
      if (page?.isLast !== true) continue
      yield frame({ event: 'end', id: after, data: { run_id: run.runId, status: page.status } })
      return
    }
  } finally {
    reader.leave()
  }
}

/** It is undefined when a store did not answer. */
async function nextPage(
  reader: EventReader,
  after: number,
  wait: Parameters<EventReader['next']>[1],
): Promise<NextEvents | undefined> {
  try {
    return await reader.next(after, wait)
  } catch (error) {
    if (!(error instanceof AppError && error.retry)) throw error
    await delay(restMs, wait.signal).catch(() => undefined)
    return undefined
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
