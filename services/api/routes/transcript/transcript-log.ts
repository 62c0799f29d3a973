import { isEndedOperation, type Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { TranscriptEntry, TranscriptPart, TranscriptView } from '#schemas/transcript-schema.ts'
import { comparePositions, type EventLog, type LogEntry, type Position } from '../events/follow-log.ts'
import { markdownParts } from './transcript-markdown.ts'
import { attemptsOf } from './transcript-view.ts'

/** `only`: nothing but this attempt. */
type Followed = { run: Run; operation: Operation; only: number | undefined; format: 'json' | 'markdown' }

type TranscriptLogDeps = {
  ledger: Pick<Ledger, 'getOperation' | 'talkVersion'>
  /** Reads the conversation of one attempt, without secrets. */
  read(operation: Operation, attempt: number): Promise<TranscriptView>
}

/** Is before every entry. */
export const startOfTranscript: Position = '0'

/**
 * Opens the conversation of an operation, attempt after attempt, as a log: `<attempt>-<n>` is behind the n-th entry of an attempt. One that
 * goes on from another counts on. Its question is at `<attempt>-<n>.1`, since another attempt has the answer in place of it.
 */
export async function openTranscriptLog(
  { run, operation: { operationId }, only, format }: Followed,
  { ledger, read }: TranscriptLogDeps,
): Promise<EventLog> {
  const readAfter = async (after: Position) => {
    const operation = await ledger.getOperation(run.runId, operationId)
    const isOver =
      only === undefined
        ? isEndedOperation(operation.status)
        : operation.attempt > only || operation.status !== 'running'
    const entries: LogEntry[] = []
    let at = after
    for (const attempt of attemptsOf(operation)) {
      if (only === undefined ? attempt < attemptOf(at) : attempt !== only) continue
      const begin = positionIn(attempt, at, operation)
      const parts =
        format === 'json'
          ? jsonParts(await read(operation, attempt))
          : textParts(await read(operation, attempt), isOver)
      entries.push(...parts.filter(({ id }) => comparePositions(id, begin) > 0))
      at = entries.at(-1)?.id ?? at
    }
    const end = { run_id: run.runId, operation_id: operationId, status: operation.status }
    return { entries, at, last: at, isOver, ...(isOver && { end }) }
  }
  const { entries: _, at: __, ...state } = await readAfter(startOfTranscript)
  let seen = ''
  return {
    name: [run.runId, operationId, only ?? '', format].join(' '),
    ofRun: run.runId,
    state,
    async *look({ last }) {
      const version = await ledger.talkVersion(run.runId, operationId)
      if (version === seen) return
      yield await readAfter(last)
      seen = version
    },
    read: readAfter,
  }
}

function attemptOf(position: Position): number {
  return Number.parseInt(position, 10)
}

/** What an attempt has said that left nothing of its own is where the next one begins. */
function positionIn(attempt: number, position: Position, { keptAttempts }: Operation): Position {
  const before = attemptOf(position)
  const goesOn = before > 0 && before < attempt && !keptAttempts.includes(before)
  return goesOn ? `${attempt}-${position.split(/[.-]/)[1] ?? 0}.1` : position
}

function jsonParts(view: TranscriptView): LogEntry[] {
  const { attempt, entries } = view
  return entries.map((entry, index) => part(view, positionOf(entry, index), { attempt, entry: withoutRaw(entry) }))
}

/** The ending is behind every entry. */
const endNumber = 999_999

function textParts(view: TranscriptView, isOver: boolean): LogEntry[] {
  const { attempt, attempts, entries } = view
  const { heading, texts, ending } = markdownParts(view)
  const hasEnding = isOver || attempt !== attempts.at(-1)
  return [
    part(view, '0', { attempt, markdown: heading }),
    ...entries.map((entry, index) => part(view, positionOf(entry, index), { attempt, markdown: texts[index] ?? '' })),
    ...(hasEnding ? [part(view, `${endNumber}`, { attempt, markdown: ending })] : []),
  ]
}

function positionOf({ kind }: TranscriptEntry, index: number): string {
  return kind === 'question' ? `${index}.1` : `${index + 1}`
}

function part({ attempt }: TranscriptView, number: string, value: TranscriptPart): LogEntry {
  return { id: `${attempt}-${number}`, category: '', json: JSON.stringify(value) }
}

/** A raw reply is only in a record: the same entry is the same while the attempt runs and afterwards. */
function withoutRaw(entry: TranscriptEntry): TranscriptEntry {
  return entry.kind === 'model' && entry.reply !== null ? { ...entry, reply: { ...entry.reply, raw: null } } : entry
}
