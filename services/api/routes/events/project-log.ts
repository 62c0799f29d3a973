import { AppError, hasCode } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import type { Log } from '#platform/log.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { toldNotice } from '#store/ledger/keys.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ToldRange } from '#store/ledger/told-events.ts'
import { comparePositions, type EventLog, type Kept, type LogEntry, type LogPart, type Position } from './follow-log.ts'
import type { FirstFrame } from './frames.ts'
import { entryOf } from './run-log.ts'

export type ToldSource = Pick<Ledger, 'lastTold' | 'readEvents' | 'readTold'>
type ProjectLogDeps = { source: ToldSource; redactor: Redactor; log: Pick<Log, 'warn'> }

/** Is before the first range that is kept, whichever that is. */
const fromFirst: Position = '0'
const rangesAtOnce = 1_000
const eventsAtOnce = 200

/**
 * Opens the events of all runs of a project for a stream behind `after`: without it at their end. A position is the id of a range, a dot,
 * and the number of an event in it; of a range of another project that is 0.
 */
export async function openProjectLog(projectId: ProjectId, after: Position | undefined, deps: ProjectLogDeps) {
  const kept = await readKept(projectId, deps.source)
  const read = (position: Position) => readPart(projectId, position, deps)
  const events: EventLog = {
    name: toldNotice(projectId),
    state: { last: kept.last, isOver: false },
    async *look({ last: begin }) {
      for (let last = begin; ;) {
        const { entries, at, lost } = await read(last)
        if (lost !== undefined) return yield { fault: { kind: 'lost', kept: lost } }
        if (at === last) return
        last = at
        yield { entries, last }
      }
    },
    read,
  }
  const begin = after ?? kept.last
  const missed = comparePositions(begin, kept.last) > 0 ? undefined : await countMissed(projectId, begin, deps.source)
  const first: FirstFrame =
    missed === undefined ? { type: 'resync', after: begin, ...kept } : { type: 'connected', id: begin, missed }
  return { events, after: begin, first }
}

async function readKept(projectId: ProjectId, source: ToldSource): Promise<Kept> {
  const last = await source.lastTold()
  return { first: fromFirst, last: last === undefined ? '0-0.0' : behind(last, projectId) }
}

function behind({ id, projectId: own, last }: ToldRange, projectId: ProjectId): Position {
  return `${id}.${own === projectId ? last : 0}`
}

/** Reads what of the ranges is behind a position; undefined when some of the project's events there have been trimmed. */
async function readBehind(projectId: ProjectId, position: Position, source: ToldSource) {
  const [id = '', seq = 0] = position.split('.')
  const { ranges, trimmed } = await source.readTold(projectId, { from: id, limit: rangesAtOnce })
  if (position !== fromFirst && trimmed !== null && comparePositions(position, trimmed) < 0) return undefined
  return ranges.map((range) => (range.id === id ? { ...range, first: Math.max(range.first, Number(seq) + 1) } : range))
}

async function countMissed(projectId: ProjectId, begin: Position, source: ToldSource): Promise<number | undefined> {
  let missed = 0
  for (let at = begin; ;) {
    const ranges = await readBehind(projectId, at, source)
    if (ranges === undefined) return undefined
    for (const { projectId: own, first, last } of ranges) if (own === projectId) missed += last - first + 1
    const last = ranges.at(-1)
    if (last === undefined || ranges.length < rangesAtOnce) return missed
    at = behind(last, projectId)
  }
}

async function readPart(projectId: ProjectId, position: Position, deps: ProjectLogDeps): Promise<LogPart> {
  const ranges = await readBehind(projectId, position, deps.source)
  if (ranges === undefined) return { entries: [], at: position, lost: await readKept(projectId, deps.source) }
  const taken: ToldRange[] = []
  let [at, room] = [position, eventsAtOnce]
  for (const range of ranges) {
    const isOwn = range.projectId === projectId
    const last = isOwn ? Math.min(range.last, range.first + room - 1) : 0
    if (isOwn && last >= range.first) taken.push({ ...range, last })
    room -= Math.max(0, last - range.first + 1)
    at = `${range.id}.${last}`
    if (room === 0) break
  }
  const entries = await Promise.all(taken.map((range) => readRange(range, deps)))
  return { entries: entries.flat(), at }
}

/** Returns nothing of a run that was deleted. One whose events cannot be read does not keep those of the others. */
async function readRange({ id, runId, first, last }: ToldRange, deps: ProjectLogDeps): Promise<LogEntry[]> {
  const { source, redactor, log } = deps
  try {
    const events = await source.readEvents(runId, { after: first - 1, limit: last - first + 1 })
    return events.map((event) => entryOf(event, `${id}.${event.seq}`, redactor))
  } catch (error) {
    if (error instanceof AppError && error.retry) throw error
    if (!hasCode(error, 'RUN_001')) log.warn('events of a run left out of those of all', { run_id: runId, error })
    return []
  }
}
