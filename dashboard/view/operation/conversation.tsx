import { useEffect, useState } from 'preact/hooks'
import { RemoraProblem } from '#client/connection.ts'
import type { StreamFrame } from '#client/read-stream.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import type { TranscriptEntry, TranscriptView } from '#schemas/transcript-schema.ts'
import { followStream } from '../../core/while-awake.ts'
import { isEndedStatus } from '../../core/run-words.ts'
import { isPart, type Said, turnsOf, withPart } from '../../core/transcript-turns.ts'
import { ProblemBox } from '../parts/shown.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { usePage } from '../page-context.ts'
import { EntryView } from './entry-view.tsx'
import { Choice } from '../parts/controls.tsx'

type ConversationProps = {
  operation: OperationView
  /** The last one without it. */
  attempt: number | undefined
  onAttempts?: (transcript: TranscriptView) => void
}

/** Shows what was said, turn by turn; while the operation goes on, each entry as it comes. */
function Conversation({ operation, attempt, onAttempts }: ConversationProps) {
  const { connection } = usePage()
  const { run_id: runId, operation_id: id, status } = operation
  const isLive = attempt === undefined && !isEndedStatus(status)
  const path = `/v1/runs/${runId}/operations/${id}/transcript`
  const { value, error, again } = useLoaded(`${path} ${attempt} ${isLive ? status : 'ended'}`, async (signal) => {
    const transcript = await connection.json<TranscriptView>(path, { query: { attempt }, signal })
    onAttempts?.(transcript)
    return transcript
  })
  const said = useSaid(path, isLive)
  const entries = isLive && said !== undefined ? said.entries : value?.entries
  if (entries !== undefined) return <Turns entries={entries} isLive={isLive} />
  if (error === undefined) return <p class="quiet">…</p>
  if (error instanceof RemoraProblem && (error.code === 'RUN_006' || error.code === 'RUN_004'))
    return (
      <p class="quiet">
        {error.code === 'RUN_006'
          ? 'It has not begun.'
          : 'Nothing was said: it ended before it began, or as a program that asks no model.'}
      </p>
    )
  return <ProblemBox error={error} onRetry={again} />
}

/** Follows a conversation while it goes on. A connection that breaks goes on after the last entry. */
function useSaid(path: string, isLive: boolean): Said | undefined {
  const { connection } = usePage()
  const [said, setSaid] = useState<Said>()
  useEffect(() => {
    const leaving = new AbortController()
    let last: string | undefined
    const following = {
      path,
      after: () => last,
      onFrame(frame: StreamFrame) {
        if (frame.type !== 'event') return
        const { id } = frame
        const part: unknown = frame.event
        last = id
        if (isPart(part)) setSaid((before) => withPart(before, id, part))
      },
      onFault: () => {}, // what was said is read when it has ended
      closing: leaving.signal,
    }
    if (isLive) void followStream(connection, following)
    return () => leaving.abort()
  }, [path, isLive])
  return said
}

function Turns({ entries, isLive }: { entries: readonly TranscriptEntry[]; isLive: boolean }) {
  return (
    <ol class="turns">
      {turnsOf(entries).map(({ turn, entries: said }) => (
        <li key={turn} class="turn">
          <h3 class="quiet">{turn === 0 ? 'What it was given' : `Turn ${turn}`}</h3>
          {said.map((entry, at) => (
            <EntryView key={at} entry={entry} />
          ))}
        </li>
      ))}
      {isLive && entries.at(-1)?.kind !== 'question' && <li class="quiet">It goes on …</li>}
    </ol>
  )
}

/** A conversation that can be shown: of this operation's last attempt, of an earlier one, or of the same work in another generation. */
type Choosable = { operation: OperationView; attempt: number | undefined; words: string }

const mostGenerations = 10

/** Shows the conversation, and beside it another one of the same work: an earlier attempt, or another generation. */
export function Conversations({ operation }: { operation: OperationView }) {
  const [attempts, setAttempts] = useState<readonly number[]>([])
  const [beside, setBeside] = useState('')
  const others = useOtherGenerations(operation)
  const last = attempts.at(-1)
  const choosable: readonly Choosable[] = [
    ...others.map((other) => ({ operation: other, attempt: undefined, words: `generation ${other.generation}` })),
    ...attempts
      .filter((attempt) => attempt !== last)
      .map((attempt) => ({ operation, attempt, words: `attempt ${attempt}` })),
  ]
  const chosen = choosable.find(({ words }) => words === beside)
  return (
    <section class="stack" aria-label="Conversation">
      <div class="row">
        <h2>Conversation</h2>
        {choosable.length > 0 && (
          <Choice
            label="Beside it"
            value={beside}
            options={[['', 'Compare with …'], ...choosable.map(({ words }) => words)]}
            onChange={setBeside}
          />
        )}
      </div>
      <div class={chosen === undefined ? 'conversations' : 'conversations two'}>
        {chosen && (
          <div>
            <p>
              <b>{chosen.words}</b>
            </p>
            <Conversation key={chosen.words} operation={chosen.operation} attempt={chosen.attempt} />
          </div>
        )}
        <div>
          {chosen && (
            <p>
              <b>{last === undefined ? 'this one' : `generation ${operation.generation}, attempt ${last}`}</b>
            </p>
          )}
          <Conversation
            operation={operation}
            attempt={undefined}
            onAttempts={(transcript: TranscriptView) => setAttempts(transcript.attempts)}
          />
        </div>
      </div>
    </section>
  )
}

/** Finds the operations that have done the same work before, and do it since. */
function useOtherGenerations({
  run_id: runId,
  operation_id: id,
  repeats,
  superseded_by: next,
}: OperationView): readonly OperationView[] {
  const { connection } = usePage()
  const { value = [] } = useLoaded(`generations ${id} ${next}`, async (signal) => {
    const found: OperationView[] = []
    let wanted = repeats ?? next
    while (wanted !== null && found.length < mostGenerations) {
      const operation = await connection.json<OperationView>(`/v1/runs/${runId}/operations/${wanted}`, { signal })
      if (operation.operation_id !== id) found.push(operation)
      wanted = operation.superseded_by
      if (wanted === id) wanted = next
    }
    return found
  })
  return value
}
