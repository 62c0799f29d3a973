import { isEndedOperation, type Operation } from '#domain/operation.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { TranscriptEntry, TranscriptView } from '#schemas/transcript-schema.ts'
import { comparePositions, type EventLog, type LogEntry, type Position } from '../events/follow-log.ts'
import { followedMarkdown } from './transcript-markdown.ts'
import { attemptsOf } from './transcript-view.ts'

type TranscriptLogDeps = {
  ledger: Pick<Ledger, 'getOperation' | 'talkVersion'>
  format: 'json' | 'markdown'
  /** Reads the conversation of one attempt. */
  read(operation: Operation, attempt: number): Promise<TranscriptView>
  withoutSecrets(view: TranscriptView): TranscriptView
}

/**
 * Makes a log of the conversation of an operation: `<attempt>-<n>` is behind the n-th entry of what began with that attempt, also where
 * later ones have gone on from it. Its question is at `<attempt>-<n>.1`, since the answer comes in place of it.
 */
export function transcriptLog(
  { runId, operationId }: Pick<Operation, 'runId' | 'operationId'>,
  { ledger, read, ...shown }: TranscriptLogDeps,
): EventLog {
  const readAfter = async (after: Position) => {
    const operation = await ledger.getOperation(runId, operationId)
    const entries: LogEntry[] = []
    let began = 1
    for (const attempt of attemptsOf(operation)) {
      if (began >= Number.parseInt(after, 10))
        entries.push(...partsBehind(await read(operation, attempt), { began, after, ...shown }))
      began = attempt + 1
    }
    const at = entries.at(-1)?.id ?? after
    const end = { run_id: runId, operation_id: operationId, status: operation.status }
    return { entries, at, last: at, ...(isEndedOperation(end.status) ? { isOver: true, end } : { isOver: false }) }
  }
  let seen = ''
  return {
    name: [runId, operationId, shown.format].join(' '),
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

type Wanted = Pick<TranscriptLogDeps, 'format' | 'withoutSecrets'> & { began: number; after: Position }

/** Makes parts only of what is behind a position, since a conversation is long. `began`: the attempt that it began with. */
function partsBehind(whole: TranscriptView, { began, after, format, withoutSecrets }: Wanted): LogEntry[] {
  const idOf = ({ kind }: TranscriptEntry, index: number) =>
    kind === 'question' ? `${began}-${index}.1` : `${began}-${index + 1}`
  const ids = whole.entries.map(idOf).filter((id) => comparePositions(id, after) > 0)
  const rest = whole.entries.slice(whole.entries.length - ids.length)
  const view = withoutSecrets({ ...whole, entries: rest.map(withoutRaw) })
  const { attempt, attempts, entries, outcome } = view
  const part = (id: Position, value: object) => ({ id, category: '', json: JSON.stringify({ attempt, ...value }) })
  if (format === 'json') return ids.map((id, index) => part(id, { entry: entries[index] }))
  const texts = followedMarkdown.entries(view)
  const isOver = outcome !== null || attempts.some((later) => later > attempt)
  return [
    part(`${began}-0`, { markdown: followedMarkdown.heading(view) }),
    ...ids.map((id, index) => part(id, { markdown: texts[index] })),
    ...(isOver ? [part(`${began}-999999`, { markdown: followedMarkdown.ending(withoutSecrets(whole)) })] : []),
  ].filter(({ id }) => comparePositions(id, after) > 0)
}

/** A raw reply is only in a record: the same entry is the same while the attempt runs and afterwards. */
function withoutRaw(entry: TranscriptEntry): TranscriptEntry {
  return entry.kind === 'model' && entry.reply !== null ? { ...entry, reply: { ...entry.reply, raw: null } } : entry
}
