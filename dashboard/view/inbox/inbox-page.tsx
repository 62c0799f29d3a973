import { useRef } from 'preact/hooks'
import { linkTo } from '../../core/route.ts'
import { runTitle } from '../../core/run-words.ts'
import { LoadState, PageHead } from '../parts/shown.tsx'
import { QuestionBox } from './question-box.tsx'
import { type AskedInRun, readInbox, waitsForApproval } from './read-questions.ts'
import { useFollowed } from '../parts/use-followed.ts'

/** Shows what the runs of the project ask people, as it is now. */
export function InboxPage() {
  const shown = useRef<readonly AskedInRun[]>([])
  const { value, error, again } = useFollowed('inbox', {
    load: async (connection, signal) => (shown.current = await readInbox(connection, shown.current, signal)),
    categories: ['escalation', 'decision', 'run_lifecycle', 'blocked', 'failed'],
  })
  return (
    <>
      <PageHead title="Inbox" />
      <LoadState {...{ value, error, again }} />
      {value?.length === 0 && (
        <p class="quiet">Nobody asks anything. Questions and plans that wait for you come here by themselves.</p>
      )}
      {value?.map((asked) => (
        <Asked key={asked.run.run_id} asked={asked} onAnswered={again} />
      ))}
    </>
  )
}

function Asked({ asked: { run, questions }, onAnswered }: { asked: AskedInRun; onAnswered: () => void }) {
  return (
    <section class="stack" aria-label={`Run ${run.run_id}`}>
      <div class="row">
        <h2>{runTitle(run)}</h2>
        <a href={linkTo({ page: 'run', runId: run.run_id, tab: 'overview' })}>Run {run.run_id}</a>
      </div>
      {waitsForApproval(run) && (
        <div class="notice">
          <p>The plan of the run waits for your approval.</p>
          <a class="button" href={linkTo({ page: 'run', runId: run.run_id, tab: 'plan' })}>
            Look at the plan
          </a>
        </div>
      )}
      {questions.map((question) => (
        <QuestionBox key={question.request_id} runId={run.run_id} question={question} onAnswered={onAnswered} />
      ))}
    </section>
  )
}
