import { AppError } from '#domain/error.ts'
import { type Event, wireEvent } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { isEnded, type Run, type RunStatus } from '#domain/run.ts'
import { openBell } from '#platform/bell.ts'
import { getOrMake, openCachedAnswers } from '#platform/cached-answers.ts'
import { delay } from '#platform/clock.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Notices } from '#store/ledger/notices.ts'

export type EventSource = Pick<Ledger, 'getRun' | 'readEvents'>

/** An event as all who read it get it: without secrets, as JSON in one line. */
export type LogEntry = { seq: number; category: string; json: string }

/** Says why nothing more comes of a log. `shrunk`: Redis has lost its end, which is now at number `last`. */
export type LogFault = { kind: 'shrunk'; last: number } | { kind: 'fault'; error: unknown }

export type LogState = {
  /** Number of the last event that was read. */
  readonly last: number
  readonly status: RunStatus
  /** The run has ended, and has no event after `last`. */
  readonly isOver: boolean
  readonly fault?: LogFault
}

/** The log of one run, for one of those who follow it. */
export type FollowedLog = {
  state(): LogState
  /** Returns up to 64 KiB of what follows number `after`; undefined when that is no longer in memory. The same for all who ask. */
  recent(after: number): readonly LogEntry[] | undefined
  /** Returns the same from the store, at least one entry if there is one. */
  read(after: number): Promise<readonly LogEntry[]>
  leave(): void
}

export type LogFollower = { follow(run: Run, onChange: () => void): FollowedLog }

const limits = {
  /** The latest events of a run that are in memory while it has readers. */
  ring: { entries: 1_000, bytes: 4 * 2 ** 20 },
  /** Bounds what a reader is given at once. */
  chunkBytes: 64 * 1024,
  /** Pages of older events, of all runs together, for readers that come at the same time. */
  pagesBytes: 16 * 2 ** 20,
}
const pageLength = 200
/** Notices that come within so long are answered with one look. */
const gatherMs = 20
/** Nothing is asked of a store for so long after it did not answer. */
export const restMs = 1_000

export type FollowerDeps = {
  source: EventSource
  redactor: Redactor
  notices: Pick<Notices, 'on'>
  /** A run that is followed is looked at so often without a notice, which may be lost, and which its deletion does not give. */
  lookMs: number
}

/**
 * Reads the log of each run once for all who follow it. `onChange` is called when there is more, at the end, and on a fault. Nothing
 * is read of a run that nobody follows. `run` must have been read just now.
 */
export function openLogFollower(deps: FollowerDeps): LogFollower {
  const tails = new Map<RunId, Tail>()
  const entries = openEntryReader(deps)
  return {
    follow(run, onChange) {
      const { runId } = run
      const tail = getOrMake(tails, runId, () => openTail(run, { ...deps, entries }))
      const leave = tail.join(run, onChange)
      return {
        ...tail,
        leave() {
          if (leave() === 0 && tails.get(runId) === tail) tails.delete(runId)
        },
      }
    },
  }
}

type EntryReader = {
  /** Up to `pageLength` entries. */
  next(runId: RunId, after: number): Promise<readonly LogEntry[]>
  /** The same for those who are far behind, who come at the same time: fewer where a page ends. */
  old(runId: RunId, after: number): Promise<readonly LogEntry[]>
}

/** Whole pages are the same for ever. Of one that is not full yet, those who ask at the same time share a read. */
function openEntryReader({ source, redactor }: FollowerDeps): EntryReader {
  const pages = openCachedAnswers<readonly LogEntry[]>({
    maxSize: limits.pagesBytes,
    sizeOf: (entries) => (entries.length < pageLength ? limits.pagesBytes + 1 : bytesOf(entries)),
  })
  const next: EntryReader['next'] = async (runId, after) => {
    const events = await source.readEvents(runId, { after, limit: pageLength })
    return events.map((event) => entryOf(withoutSecrets(event, redactor)))
  }
  return {
    next,
    async old(runId, after) {
      const first = after - (after % pageLength)
      const entries = await pages.get(`${runId} ${first}`, () => next(runId, first))
      return entries.slice(after - first)
    },
  }
}

function entryOf(event: Event): LogEntry {
  return { seq: event.seq, category: event.category, json: JSON.stringify(wireEvent(event)) }
}

/** Events are stored without secrets, but the api knows secrets that their writers do not. */
export function withoutSecrets(event: Event, redactor: Redactor): Event {
  return { ...event, data: redactor.record(event.data) }
}

function bytesOf(entries: readonly LogEntry[]): number {
  return entries.reduce((sum, { json }) => sum + json.length, 0)
}

function chunkOf(entries: readonly LogEntry[]): readonly LogEntry[] {
  let bytes = 0
  const end = entries.findIndex(({ json }, at) => (bytes += json.length) > limits.chunkBytes && at > 0)
  return end === -1 ? entries : entries.slice(0, end)
}

type Tail = Omit<FollowedLog, 'leave'> & {
  /** The returned function ends it, and returns how many are left. */
  join(run: Run, onChange: () => void): () => number
}
type TailDeps = FollowerDeps & { entries: EntryReader }

function openTail(run: Run, deps: TailDeps): Tail {
  const { runId } = run
  const readers = new Set<() => void>()
  const ring = openRing()
  const bell = openBell()
  let state: LogState = { last: run.seq, status: run.status, isOver: isEnded(run.status) }
  const tell = (next: Partial<LogState>) => {
    state = { ...state, ...next }
    for (const onChange of readers) onChange()
  }
  const look = async () => {
    const now = await deps.source.getRun(runId)
    if (now.seq < state.last) return tell({ fault: { kind: 'shrunk', last: now.seq } })
    while (state.last < now.seq && readers.size > 0) {
      const more = await deps.entries.next(runId, state.last)
      if (more.length === 0) break
      ring.add(more)
      tell({ last: more.at(-1)?.seq ?? state.last, isOver: false })
    }
    const isOver = isEnded(now.status) && state.last >= now.seq
    if (isOver !== state.isOver || now.status !== state.status) tell({ status: now.status, isOver })
  }
  const keepLooking = async () => {
    const stopHearing = deps.notices.on(runId, () => bell.ring())
    while (readers.size > 0 && state.fault === undefined) {
      const isAway = await isAwayAfter(look(), (error) => tell({ fault: { kind: 'fault', error } }))
      if (readers.size > 0) await delay(isAway ? restMs : gatherMs)
      await bell.rung(isAway ? 0 : deps.lookMs)
    }
    stopHearing()
  }
  return {
    state: () => state,
    recent: (after) => ring.after(after, state.last),
    read: async (after) => chunkOf(await deps.entries.old(runId, after)),
    join(latest, onChange) {
      const call = () => onChange()
      const isOver = state.isOver && latest.seq <= state.last && isEnded(latest.status)
      state = { ...state, isOver }
      readers.add(call)
      if (readers.size === 1) void keepLooking()
      else if (latest.seq > state.last || latest.status !== state.status) bell.ring()
      return () => {
        readers.delete(call)
        if (readers.size === 0) bell.ring()
        return readers.size
      }
    },
  }
}

/** Is true when the store did not answer. Gives any other failure to `onFault`. */
async function isAwayAfter(looking: Promise<void>, onFault: (error: unknown) => void): Promise<boolean> {
  try {
    await looking
  } catch (error) {
    if (error instanceof AppError && error.retry) return true
    onFault(error)
  }
  return false
}

/** Keeps the latest entries of a log. What is asked for again, before more is added, is the same array. */
function openRing() {
  const entries: LogEntry[] = []
  const asked = new Map<number, readonly LogEntry[]>()
  let bytes = 0
  return {
    add(more: readonly LogEntry[]) {
      entries.push(...more)
      bytes += bytesOf(more)
      let count = 0
      for (const { json } of entries) {
        if (entries.length - count <= limits.ring.entries && bytes <= limits.ring.bytes) break
        bytes -= json.length
        count += 1
      }
      entries.splice(0, count)
      asked.clear()
    },
    /** `last` is the number of the last entry that was added. */
    after(seq: number, last: number): readonly LogEntry[] | undefined {
      const count = last - seq
      if (count > entries.length) return undefined
      return getOrMake(asked, seq, () => chunkOf(entries.slice(entries.length - count)))
    },
  }
}
