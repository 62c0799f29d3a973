import { isEndedOperation, type Operation } from '#domain/operation.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { TranscriptEntry, TranscriptView } from '#schemas/transcript-schema.ts'
import { comparePositions, type EventLog, type LogEntry, type Position } from '../events/follow-log.ts'
import { markdownParts } from './transcript-markdown.ts'
import { attemptsOf } from './transcript-view.ts'

type TranscriptLogDeps = {
  ledger: Pick<Ledger, 'getOperation' | 'talkVersion'>
  format: 'json' | 'markdown'
  /** Reads the conversation of one attempt, without secrets. */
  read(operation: Operation, attempt: number): Promise<TranscriptView>
}

/**
 * Makes a log of the conversation of an operation: `<attempt>-<n>` is behind the n-th entry of what began with that attempt, also where
 * later ones have gone on from it. Its question is at `<attempt>-<n>.1`, since the answer comes in place of it.
 */
export function transcriptLog(
  { runId, operationId }: Pick<Operation, 'runId' | 'operationId'>,
  { ledger, format, read }: TranscriptLogDeps,
): EventLog {
  const readAfter = async (after: Position) => {
    const operation = await ledger.getOperation(runId, operationId)
    const { status } = operation
    const entries: LogEntry[] = []
    let began = 1
    for (const attempt of attemptsOf(operation)) {
      const parts = began < Number.parseInt(after, 10) ? [] : partsOf(await read(operation, attempt), { began, format })
      entries.push(...parts.filter(({ id }) => comparePositions(id, after) > 0))
      began = attempt + 1
    }
    const at = entries.at(-1)?.id ?? after
    const end = { run_id: runId, operation_id: operationId, status }
    return { entries, at, last: at, ...(isEndedOperation(status) ? { isOver: true, end } : { isOver: false }) }
  }
  let seen = ''
  return {
    name: [runId, operationId, format].join(' '),
    ofRun: runId,
    state: { last: '0', isOver: false },
    async *look({ last }) {
      const version = await ledger.talkVersion(runId, operationId)
      if (version === seen) return
      yield await readAfter(last)
      seen = version
    },
    read: readAfter,
  }
}

/** `began`: the attempt that the conversation began with. */
function partsOf(view: TranscriptView, { began, format }: { began: number; format: 'json' | 'markdown' }): LogEntry[] {
  const { attempt, attempts, entries, outcome } = view
  const part = (number: string, value: object): LogEntry => {
    return { id: `${began}-${number}`, category: '', json: JSON.stringify({ attempt, ...value }) }
  }
  const numberOf = ({ kind }: TranscriptEntry, index: number) => (kind === 'question' ? `${index}.1` : `${index + 1}`)
  if (format === 'json')
    return entries.map((entry, index) => part(numberOf(entry, index), { entry: withoutRaw(entry) }))
  const { heading, texts, ending } = markdownParts(view)
  const shown = entries.map((entry, index) => part(numberOf(entry, index), { markdown: texts[index] }))
  const isOver = outcome !== null || attempts.some((later) => later > attempt)
  return [part('0', { markdown: heading }), ...shown, ...(isOver ? [part('999999', { markdown: ending })] : [])]
}

/** A raw reply is only in a record: the same entry is the same while the attempt runs and afterwards. */
function withoutRaw(entry: TranscriptEntry): TranscriptEntry {
  return entry.kind === 'model' && entry.reply !== null ? { ...entry, reply: { ...entry.reply, raw: null } } : entry
}
