import { counted } from '../../core/review-words.ts'
import { ProblemBox } from '../parts/problem-box.tsx'
import { QuestionBox } from './question-box.tsx'
import { readQuestions } from './read-questions.ts'
import { useFollowed } from './use-followed.ts'

/** Shows what a run has asked people: the open questions first, then the others, the newest first. */
export function QuestionsTab({ runId }: { runId: string }) {
  const { value, error, again } = useFollowed(`questions ${runId}`, {
    load: (connection, signal) => readQuestions(connection, runId, { signal }),
    categories: ['escalation', 'worker_call', 'run_lifecycle', 'blocked', 'failed'],
    isAbout: ({ run_id: id }) => id === runId,
  })
  if (value === undefined)
    return error === undefined ? <p class="quiet">…</p> : <ProblemBox error={error} onRetry={again} />
  const open = value.filter(({ status }) => status === 'open')
  const over = value.filter(({ status }) => status !== 'open').toReversed()
  return (
    <div class="stack">
      <p role="status">{open.length === 0 ? 'No open question.' : `${counted(open.length, 'open question')}.`}</p>
      {[...open, ...over].map((question) => (
        <QuestionBox key={question.request_id} runId={runId} question={question} onAnswered={again} />
      ))}
    </div>
  )
}
