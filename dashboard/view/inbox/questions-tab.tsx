import { plural } from '#domain/timeline/words.ts'
import { useEffect } from 'preact/hooks'
import type { Event } from '#client/wire.ts'
import { openRefresh } from '../../core/refresh.ts'
import { usePage } from '../page-context.ts'
import { useLoaded } from '../parts/use-loaded.ts'
import { LoadState } from '../parts/shown.tsx'
import { QuestionBox } from './question-box.tsx'
import { readQuestions } from './read-questions.ts'
import { useRun } from '../run/run-context.ts'

const readEveryMs = 1_000

/** Shows what a run has asked people: the open questions first, then the others, the newest first. */
export function QuestionsTab({ runId }: { runId: string }) {
  const { connection } = usePage()
  const { feed } = useRun()
  const key = `questions ${runId} ${feed.era.value}`
  const { value, error, again } = useLoaded(key, (signal) => readQuestions(connection, runId, { signal }))
  useEffect(() => {
    const leaving = new AbortController()
    const changed = openRefresh(async () => again(), readEveryMs, leaving.signal)
    const ignore = feed.onEvents((events) => events.some(mayChangeQuestions) && changed())
    return () => {
      ignore()
      leaving.abort()
    }
  }, [feed, again])
  const isThere = feed.link.value.kind !== 'broken'
  useEffect(() => {
    if (isThere && error !== undefined) again()
  }, [isThere])
  const open = value?.filter(({ status }) => status === 'open') ?? []
  const over = value?.filter(({ status }) => status !== 'open').toReversed() ?? []
  return (
    <div class="stack">
      <LoadState {...{ value, error, again }} />
      {value !== undefined && (
        <p role="status">{open.length === 0 ? 'No open question.' : `${plural(open.length, 'open question')}.`}</p>
      )}
      {[...open, ...over].map((question) => (
        <QuestionBox key={question.request_id} runId={runId} question={question} onAnswered={again} />
      ))}
    </div>
  )
}

/** Questions are asked and answered, and are over with their operation or the run. */
function mayChangeQuestions({ category, event }: Event): boolean {
  return ['escalation', 'run_lifecycle', 'failed', 'blocked'].includes(category) || event === 'operation.resumed'
}
