import { AppError, hasCode } from '#domain/error.ts'
import { type Bell, openBell } from '#platform/bell.ts'
import { delay, repeatEvery } from '#platform/clock.ts'
import { type Log, storeAtFault } from '#platform/log.ts'
import {
  comparePositions,
  type EventLog,
  type FollowedLog,
  type Kept,
  type LogEntry,
  type LogFollower,
  type LogPart,
  type Position,
  restMs,
} from './follow-log.ts'
import type { FirstFrame, Wire } from './frames.ts'

/**
 * Why a stream ends. `end`: as its last frame says, with the run or since its position is not in the log. `token`: it may not read any more. `gone`: the run was deleted.
 * `stuck`: the reader has taken nothing for too long. `left`: it has gone itself.
 */
export type EndOfStream = 'end' | 'stopping' | 'token' | 'gone' | 'stuck' | 'fault' | 'left'

/** One reader's connection. */
export type Sink = {
  /** Sends whole frames. After `full` nothing is written until it calls what `onDrain` was given. */
  write(frames: Buffer): 'taken' | 'full'
  onDrain(call: () => void): void
  /** Calls `call` when the reader has gone; `why` is `stuck` when the connection has found that by itself. */
  onLeave(call: (why: 'left' | 'stuck') => void): void
  end(why: EndOfStream): void
}

type SharedWire = { events(entries: readonly LogEntry[], categories?: ReadonlySet<string>): Buffer } & Pick<
  Wire,
  'control'
>

export type Reader = {
  events: EventLog
  /** Says what became of `after`. */
  first: FirstFrame
  after: Position
  categories: ReadonlySet<string> | undefined
  sink: Sink
  wire: SharedWire
  /** Tells whether the token may still read. A failure is ignored: it is asked again. */
  isAllowed(): Promise<boolean>
}

export type ReaderLimits = {
  /** After such a silence a reader is told how far it is. */
  heartbeatMs: number
  /** How often the token of a reader is looked up. */
  recheckMs: number
  /** A reader that takes nothing for so long is cut. */
  stuckMs: number
}
export const usualReaderLimits: ReaderLimits = { heartbeatMs: 15_000, recheckMs: 3_000, stuckMs: 60_000 }

type ReaderDeps = { logs: LogFollower; limits: ReaderLimits; log: Pick<Log, 'debug' | 'warn'>; closing: AbortSignal }

type ServedReader = { tick(now: number): void; end(why: EndOfStream): void }

/**
 * Gives each reader the events of a log in order, each once, as fast as it takes them. Nothing is kept for one that is slow: it goes on
 * in the log where it has stopped.
 */
export function openReaders(deps: ReaderDeps): (reader: Reader) => void {
  const { recheckMs, heartbeatMs, stuckMs } = deps.limits
  const served = new Set<ServedReader>()
  let stopTicks: (() => Promise<void>) | undefined
  const tick = async () => {
    const now = performance.now()
    for (const reader of served) reader.tick(now)
    if (served.size > 0) return
    void stopTicks?.()
    stopTicks = undefined
  }
  deps.closing.addEventListener('abort', () => {
    for (const reader of served) reader.end('stopping')
    void stopTicks?.()
  })
  return (reader) => {
    const one = serveReader(reader, deps, () => served.delete(one))
    served.add(one)
    stopTicks ??= repeatEvery(Math.min(recheckMs, heartbeatMs, stuckMs) / 3, tick)
    if (deps.closing.aborted) one.end('stopping')
  }
}

/** How far a reader is. Times are of `performance.now()`. */
type Progress = {
  /** Is behind the last event that it was given, or that its filter has left out. */
  at: Position
  /** Its connection takes nothing, since the last was sent. */
  isFull: boolean
  sentAt: number
  checkedAt: number
  ending: EndOfStream | undefined
}

function serveReader(reader: Reader, { logs, limits, log }: ReaderDeps, onEnd: () => void): ServedReader {
  const { events, sink } = reader
  const now = performance.now()
  const progress: Progress = { at: reader.after, isFull: false, sentAt: now, checkedAt: now, ending: undefined }
  const bell = openBell()
  const followed = logs.follow(events, bell.ring)
  const end = (why: EndOfStream) => {
    progress.ending ??= why
    bell.ring()
  }
  sink.onLeave(end)
  sink.onDrain(() => {
    progress.isFull = false
    bell.ring()
  })
  const serve = async () => {
    const why = await giveAll(reader, progress, { followed, bell }).catch((error: unknown) => {
      if (progress.ending !== undefined) return progress.ending // a sink whose reader has left cannot be closed again
      if (hasCode(error, 'RUN_001')) return 'gone'
      const note = storeAtFault(error) === undefined ? log.warn : log.debug
      note('stream of events broken off', { events: events.name, error })
      return 'fault'
    })
    if (why === 'stuck') log.debug('reader of events cut: it takes nothing', { events: events.name })
    followed.leave()
    onEnd()
    sink.end(why)
  }
  void serve()
  return { end, tick: (at) => look(reader, progress, { limits, end }, at) }
}

type Following = { followed: FollowedLog; bell: Bell }

/** Writes what comes until the run or the stream ends. Throws what keeps the log from being read. */
async function giveAll(reader: Reader, progress: Progress, { followed, bell }: Following): Promise<EndOfStream> {
  const { events, first, wire, categories } = reader
  send(reader, progress, wire.control(first, progress.at))
  if (first.type === 'resync') return 'end'
  while (progress.ending === undefined) {
    const { last, status, isOver, fault, end = status && { run_id: events.name, status } } = followed.state()
    const isAtEnd = comparePositions(progress.at, last) >= 0
    if (progress.isFull || (isAtEnd && !isOver && fault === undefined)) {
      await bell.rung()
      continue
    }
    if (fault?.kind === 'fault') throw fault.error
    if (fault !== undefined) return sendResync(reader, progress, fault.kept)
    if (isAtEnd && end !== undefined) {
      send(reader, progress, wire.control({ type: 'end', ...end }, progress.at))
      return 'end'
    }
    const { entries, at, lost } = followed.recent(progress.at) ?? (await readPatiently(followed, progress.at))
    if (progress.ending !== undefined) break
    if (lost !== undefined) return sendResync(reader, progress, lost)
    progress.at = at
    send(reader, progress, wire.events(entries, categories))
  }
  return progress.ending
}

function sendResync(reader: Reader, progress: Progress, kept: Kept): EndOfStream {
  send(reader, progress, reader.wire.control({ type: 'resync', after: progress.at, ...kept }, progress.at))
  return 'end'
}

/** Returns nothing when the store does not answer: then it is asked again. */
async function readPatiently(followed: FollowedLog, at: Position): Promise<LogPart> {
  try {
    return await followed.read(at)
  } catch (error) {
    if (!(error instanceof AppError && error.retry)) throw error
    await delay(restMs)
    return { entries: [], at }
  }
}

function send({ sink }: Reader, progress: Progress, frames: Buffer): void {
  if (frames.length === 0) return
  progress.sentAt = performance.now()
  progress.isFull = sink.write(frames) === 'full'
}

type Watch = { limits: ReaderLimits; end(why: EndOfStream): void }

/** Cuts a reader that takes nothing, tells one after a silence how far it is, and looks its token up. */
function look(reader: Reader, progress: Progress, { limits, end }: Watch, now: number): void {
  const silentMs = now - progress.sentAt
  if (progress.isFull && silentMs > limits.stuckMs) return end('stuck')
  if (!progress.isFull && silentMs >= limits.heartbeatMs && progress.ending === undefined)
    send(reader, progress, reader.wire.control({ type: 'ping' }, progress.at))
  if (now - progress.checkedAt < limits.recheckMs) return
  progress.checkedAt = now
  reader.isAllowed().then(
    (isAllowed) => isAllowed || end('token'),
    () => undefined,
  )
}
