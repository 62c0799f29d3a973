import { AppError } from '#domain/error.ts'
import { type Event, wireEvent } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { bytesOf, type EventLog, type Kept, type LogEntry, type Position } from './follow-log.ts'

export type EventSource = Pick<Ledger, 'getRun' | 'readEvents'>
type RunLogDeps = { source: EventSource; redactor: Redactor }

/** Bounds the pages of older events, of all runs together, for readers that come at the same time. */
const pagesBytes = 8 * 2 ** 20
/** A page of usual events is given to a reader at once, so that all who have come to its beginning share the array, and what is written of it. */
const pageLength = 100

/** Returns what makes the log of a run that was read just now; the number of an event is its position. */
export function openRunLogs({ source, redactor }: RunLogDeps): (run: Run) => EventLog {
  // Whole pages are the same for ever. Of one that is not full yet, those who ask at the same time share a read.
  const pages = openCachedAnswers<readonly LogEntry[]>({
    maxSize: pagesBytes,
    sizeOf: (entries) => (entries.length < pageLength ? pagesBytes + 1 : bytesOf(entries)),
  })
  const next = async (runId: RunId, after: number) => {
    const events = await source.readEvents(runId, { after, limit: pageLength })
    return events.map((event) => entryOf(event, String(event.seq), redactor))
  }
  return (run) => ({
    name: run.runId,
    state: { last: String(run.seq), status: run.status, isOver: isEnded(run.status) },
    async *look(state) {
      const now = await source.getRun(run.runId)
      let [last, isOver] = [Number(state.last), state.isOver]
      if (now.seq < last) return yield { fault: { kind: 'lost', kept: keptOf(now) } }
      while (last < now.seq) {
        const entries = await next(run.runId, last)
        if (entries.length === 0) break
        last = Number(entries.at(-1)?.id)
        isOver = false
        yield { entries, last: String(last), isOver }
      }
      const isEnd = isEnded(now.status) && last >= now.seq
      if (isEnd !== isOver || now.status !== state.status) yield { status: now.status, isOver: isEnd }
    },
    async read(position) {
      const after = Number(position)
      const first = after - (after % pageLength)
      const page = await pages.get(`${run.runId} ${first}`, () => next(run.runId, first))
      const entries = after === first ? page : page.slice(after - first)
      return { entries, at: entries.at(-1)?.id ?? position }
    },
  })
}

/** Names the first and the last event of the run. */
export function keptOf({ seq }: Pick<Run, 'seq'>): Kept {
  return { first: String(Math.min(1, seq)), last: String(seq) }
}

export function entryOf(event: Event, id: Position, redactor: Redactor): LogEntry {
  return { id, category: event.category, json: JSON.stringify(wireEvent(withoutSecrets(event, redactor))) }
}

/** Events are stored without secrets, but the api knows secrets that their writers do not. */
export function withoutSecrets(event: Event, redactor: Redactor): Event {
  return { ...event, data: redactor.record(event.data) }
}

/** Asks for all events where it has no `categories`. */
type EventQuery = { after: number; categories: ReadonlySet<string> | undefined; limit: number }

/** `nextAfter` is the last event that was read, whether it matched or not. */
type ReadEventPage = { events: Event[]; nextAfter: number }

const scanSize = 500
/** After so many pages the answer is sent, even if it is short or empty. */
const maxScans = 8

/** RUN_002 for a position that is not in the log. */
export function requireKnown({ seq }: Run, after: number): void {
  if (after > seq) throw new AppError('RUN_002', `after: ${after} is past the last event of the run, ${seq}`)
}

/** Reads events that match, and up to 4,000 that do not. An ended run with an empty page has no more events. */
export async function readEventPage(
  { runId }: Run,
  { categories, limit, after }: EventQuery,
  source: Pick<EventSource, 'readEvents'>,
): Promise<ReadEventPage> {
  const events: Event[] = []
  let nextAfter = after
  for (let scans = 0; scans < maxScans; scans += 1) {
    const size = categories === undefined ? limit : scanSize
    const page = await source.readEvents(runId, { after: nextAfter, limit: size })
    for (const event of page) {
      nextAfter = event.seq
      if (categories?.has(event.category) ?? true) events.push(event)
      if (events.length === limit) return { events, nextAfter }
    }
    if (page.length < size) break
  }
  return { events, nextAfter }
}
