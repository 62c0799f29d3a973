import { AppError } from '#domain/error.ts'
import type { Event } from '#domain/event.ts'
import { isEnded, type Run, type RunStatus } from '#domain/run.ts'
import { after as afterMs } from '#platform/clock.ts'
import { comparePositions, type EventLog, type LogFollower, type LogState } from './follow-log.ts'
import type { EventSource } from './run-log.ts'

/** Without `categories` it asks for all. */
type ScanQuery = { after: number; categories: ReadonlySet<string> | undefined; limit: number }
type EventQuery = ScanQuery & { waitMs: number }

/** `nextAfter` is the last event that was read, whether it matched or not. */
type ReadEventPage = { events: Event[]; nextAfter: number; runStatus: RunStatus }

type PageDeps = { source: Pick<EventSource, 'readEvents'>; logs: LogFollower; log: EventLog; signal: AbortSignal }

const scanSize = 500
/** After so many pages the answer is sent, even if it is short or empty. */
const maxScans = 8

/**
 * `run` must have been read just now. Without events it waits up to `waitMs`, or until the run has ended or `signal` is aborted.
 * An ended run with an empty page has no more events.
 */
export async function readEventPage(run: Run, query: EventQuery, deps: PageDeps): Promise<ReadEventPage> {
  const deadline = performance.now() + query.waitMs
  for (let { after } = query, runStatus = run.status; ;) {
    const page = await scanEvents(run, { ...query, after }, deps.source)
    const leftMs = deadline - performance.now()
    if (page.events.length > 0 || isEnded(runStatus) || leftMs <= 0 || deps.signal.aborted)
      return { ...page, runStatus }
    const state = await waitForMore(page.nextAfter, leftMs, deps)
    runStatus = state.status ?? runStatus
    if (!isBehind(page.nextAfter, state)) return { ...page, runStatus }
    after = page.nextAfter
  }
}

/** RUN_002 for a position that is not in the log. */
export function requireKnown({ seq }: Run, after: number): void {
  if (after > seq) throw new AppError('RUN_002', `after: ${after} is past the last event of the run, ${seq}`)
}

/** Reads events that match, and up to 4,000 that do not. */
export async function scanEvents(
  { runId }: Run,
  { categories, limit, after }: ScanQuery,
  source: PageDeps['source'],
): Promise<Omit<ReadEventPage, 'runStatus'>> {
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

/** Resolves when the log has more than number `after`, its run has ended, nothing more can be read, or the time is over. */
async function waitForMore(after: number, waitMs: number, { logs, log, signal }: PageDeps): Promise<LogState> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const followed = logs.follow(log, () => {
    const state = followed.state()
    if (isBehind(after, state) || state.isOver || state.fault !== undefined) resolve()
  })
  const cancelWait = afterMs(waitMs, resolve)
  const giveUp = () => resolve()
  signal.addEventListener('abort', giveUp, { once: true })
  await promise
  cancelWait()
  signal.removeEventListener('abort', giveUp)
  followed.leave()
  return followed.state()
}

function isBehind(after: number, { last }: LogState): boolean {
  return comparePositions(String(after), last) < 0
}
