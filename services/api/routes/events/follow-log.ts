import { AppError } from '#domain/error.ts'
import type { RunStatus } from '#domain/run.ts'
import { openBell } from '#platform/bell.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { delay } from '#platform/clock.ts'
import type { Frame } from '#schemas/frame-schema.ts'
import type { Notices } from '#store/ledger/notices.ts'

/** Says where one is in a log: the number of an event, or in a log of many runs the id of a range, a dot, and that number. */
export type Position = string

/** An event as all who read it get it: without secrets, as JSON in one line. `id` is the position behind it. */
export type LogEntry = { id: Position; category: string; json: string }

/** Names the first and the last position of all that a log has. */
export type Kept = { first: Position; last: Position }

/** Some entries of a log, and where they end, which may be behind others that are not for its readers. `lost`: what follows is not there any more. */
export type LogPart = { entries: readonly LogEntry[]; at: Position; lost?: Kept }

/** Says why nothing more comes of a log. `lost`: what is kept of it does not go on where it was read last. */
export type LogFault = { kind: 'lost'; kept: Kept } | { kind: 'fault'; error: unknown }

type EndOfLog = Omit<Extract<Frame, { type: 'end' }>, 'type'>

export type LogState = {
  /** Where what was read ends. */
  readonly last: Position
  readonly status?: RunStatus
  /** Its run has ended, and has no event after `last`. */
  readonly isOver: boolean
  /** Is what its last frame says, where that is not the status of a run. */
  readonly end?: EndOfLog
  readonly fault?: LogFault
}

/** The events of one run, or of all runs of a project, or the conversation of an operation. */
export type EventLog = {
  /** Is what its notices are called. Those who follow logs of one name share what is read. */
  name: string
  /** Names the run whose notices it is looked at for, where that is not its name. */
  ofRun?: string
  /** Was read just now. */
  state: LogState
  /** Yields what has come since, part by part. */
  look(state: LogState): AsyncGenerator<Partial<LogState> & { entries?: readonly LogEntry[] }, void>
  /** Reads some of what follows a position; nothing at the end. */
  read(after: Position): Promise<LogPart>
}

/** A log, for one of those who follow it. */
export type FollowedLog = {
  state(): LogState
  /** Returns up to 64 KiB of what follows a position; undefined when that is no longer in memory. The same for all who ask. */
  recent(after: Position): LogPart | undefined
  /** Returns the same from the store, at least one entry if there is one. */
  read(after: Position): Promise<LogPart>
  leave(): void
}

export type LogFollower = { follow(log: EventLog, onChange: () => void): FollowedLog }

const limits = {
  /** The latest events of a log that are in memory while it has readers. */
  ring: { entries: 1_000, bytes: 4 * 2 ** 20 },
  /** Bounds what a reader is given at once. */
  chunkBytes: 64 * 1024,
}
/** Notices that come within so long are answered with one look. */
const gatherMs = 20
/** Nothing is asked of a store for so long after it did not answer. */
export const restMs = 1_000

export type FollowerDeps = {
  notices: Pick<Notices, 'on'>
  /** A log that is followed is looked at so often without a notice, which may be lost, and which its deletion does not give. */
  lookMs: number
}

/**
 * Reads each log once for all who follow it. `onChange` is called when there is more, at the end, and on a fault. Nothing is read
 * of a log that nobody follows.
 */
export function openLogFollower(deps: FollowerDeps): LogFollower {
  const tails = new Map<string, Tail>()
  return {
    follow(log, onChange) {
      const tail = getOrMake(tails, log.name, () => openTail(log, deps))
      const leave = tail.join(log.state, onChange)
      return {
        ...tail,
        leave() {
          if (leave() === 0 && tails.get(log.name) === tail) tails.delete(log.name)
        },
      }
    },
  }
}

/** Is negative when `left` is before `right` in their log, and 0 when they are the same. */
export function comparePositions(left: Position, right: Position): number {
  const apart = Number(left) - Number(right)
  if (!Number.isNaN(apart)) return apart
  const [ones, others] = [left, right].map((position) => position.split(/[.-]/).map(Number))
  const differ = [0, 1, 2].map((at) => (ones?.[at] ?? 0) - (others?.[at] ?? 0))
  return differ.find((difference) => difference !== 0) ?? 0
}

export function bytesOf(entries: readonly LogEntry[]): number {
  return entries.reduce((sum, { json }) => sum + json.length, 0)
}

function chunkOf(part: LogPart): LogPart {
  let bytes = 0
  const end = part.entries.findIndex(({ json }, index) => (bytes += json.length) > limits.chunkBytes && index > 0)
  return end === -1 ? part : { entries: part.entries.slice(0, end), at: part.entries[end - 1]?.id ?? part.at }
}

type Tail = Omit<FollowedLog, 'leave'> & {
  /** The returned function ends it, and returns how many are left. */
  join(latest: LogState, onChange: () => void): () => number
}

function openTail(log: EventLog, deps: FollowerDeps): Tail {
  const readers = new Set<() => void>()
  const ring = openRing(log.state.last)
  const bell = openBell()
  let { state } = log
  const tell = (next: Partial<LogState>) => {
    state = { ...state, ...next }
    for (const onChange of readers) onChange()
  }
  const look = async () => {
    for await (const { entries = [], ...next } of log.look(state)) {
      ring.add(entries)
      tell(next)
      if (readers.size === 0) return
    }
  }
  const keepLooking = async () => {
    const stopHearing = deps.notices.on(log.ofRun ?? log.name, () => bell.ring())
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
    read: async (after) => chunkOf(await log.read(after)),
    join(latest, onChange) {
      const call = () => onChange()
      const isNewer = comparePositions(latest.last, state.last) > 0
      state = { ...state, isOver: state.isOver && !isNewer }
      readers.add(call)
      if (readers.size === 1) void keepLooking()
      else if (isNewer || latest.status !== state.status) bell.ring()
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

/** Keeps the latest entries of a log from `begin` on. What follows the same entry is the same for all who ask, before more is added. */
function openRing(begin: Position) {
  const entries: LogEntry[] = []
  const asked = new Map<number, LogPart>()
  let bytes = 0
  let start = begin
  return {
    add(more: readonly LogEntry[]) {
      entries.push(...more)
      bytes += bytesOf(more)
      let count = 0
      for (const { json, id } of entries) {
        if (entries.length - count <= limits.ring.entries && bytes <= limits.ring.bytes) break
        bytes -= json.length
        count += 1
        start = id
      }
      entries.splice(0, count)
      asked.clear()
    },
    /** `last` is where what was added ends. */
    after(position: Position, last: Position): LogPart | undefined {
      if (comparePositions(position, start) < 0) return undefined
      const known = entries.findLastIndex(({ id }) => comparePositions(id, position) <= 0)
      return getOrMake(asked, known, () => chunkOf({ entries: entries.slice(known + 1), at: last }))
    },
  }
}
