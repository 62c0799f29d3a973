import { useEffect, useState } from 'preact/hooks'
import { RemoraProblem } from '#client/connection.ts'
import { readStream } from '#client/read-stream.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import type { TranscriptEntry, TranscriptView } from '#schemas/transcript-schema.ts'
import { isEndedStatus } from '../../core/run-words.ts'
import { isPart, type Talk, turnsOf, withPart } from '../../core/talk-turns.ts'
import { ProblemBox } from '../parts/problem-box.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { usePage } from '../page-context.ts'
import { TalkEntry } from './talk-entry.tsx'

type ConversationProps = {
  operation: OperationView
  /** The last one without it. */
  attempt: number | undefined
  onAttempts?: (transcript: TranscriptView) => void
}

/** Shows what was said, turn by turn; while the operation goes on, each entry as it comes. */
export function Conversation({ operation, attempt, onAttempts }: ConversationProps) {
  const { connection } = usePage()
  const { run_id: runId, operation_id: id, status } = operation
  const isLive = attempt === undefined && !isEndedStatus(status)
  const path = `/v1/runs/${runId}/operations/${id}/transcript`
  const { value, error, again } = useLoaded(`${path} ${attempt} ${isLive ? status : 'ended'}`, async (signal) => {
    const transcript = await connection.json<TranscriptView>(path, { query: { attempt }, signal })
    onAttempts?.(transcript)
    return transcript
  })
  const talk = useTalk(path, isLive)
  const entries = isLive && talk !== undefined ? talk.entries : value?.entries
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
function useTalk(path: string, isLive: boolean): Talk | undefined {
  const { connection } = usePage()
  const [talk, setTalk] = useState<Talk>()
  useEffect(() => {
    const leaving = new AbortController()
    const follow = async () => {
      for await (const frame of readStream(connection, path, { signal: leaving.signal })) {
        if (frame.type !== 'event') continue
        const { id } = frame
        const part: unknown = frame.event
        if (isPart(part)) setTalk((before) => withPart(before, id, part))
      }
    }
    if (isLive) follow().catch(() => {}) // what was said is read when it has ended
    return () => leaving.abort()
  }, [path, isLive])
  return talk
}

function Turns({ entries, isLive }: { entries: readonly TranscriptEntry[]; isLive: boolean }) {
  return (
    <ol class="turns">
      {turnsOf(entries).map(({ turn, entries: said }) => (
        <li key={turn} class="turn">
          <h3 class="quiet">{turn === 0 ? 'What it was given' : `Turn ${turn}`}</h3>
          {said.map((entry, at) => (
            <TalkEntry key={at} entry={entry} />
          ))}
        </li>
      ))}
      {isLive && entries.at(-1)?.kind !== 'question' && <li class="quiet">It goes on …</li>}
    </ol>
  )
}
