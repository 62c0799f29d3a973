import { useState } from 'preact/hooks'
import { RemoraProblem } from '#client/connection.ts'
import { plural } from '#domain/timeline/words.ts'
import type { Agenda, Run } from '#client/wire.ts'
import { LoadState } from '../parts/problem-box.tsx'
import { At, Since } from '../parts/times.tsx'
import { AskingButton } from '../parts/ask-dialog.tsx'
import { useAction } from '../parts/use-action.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { useMayWrite, usePage } from '../page-context.ts'
import { AgendaItems } from './agenda-items.tsx'
import { DecisionList } from './decision-list.tsx'
import { useHeard, useRun } from './run-context.ts'

/** Shows what a run with an objective plans, does and has done, and why. */
export function PlanTab({ run }: { run: Run }) {
  const { connection } = usePage()
  const path = `/v1/runs/${encodeURIComponent(run.run_id)}`
  const era = useRun().feed.era.value
  const agenda = useLoaded(`${run.run_id} ${era}`, (signal) => connection.json<Agenda>(`${path}/agenda`, { signal }))
  useHeard(() => true, agenda.again)
  if (agenda.value === undefined) {
    if (agenda.error instanceof RemoraProblem && agenda.error.code === 'RUN_012')
      return (
        <p class="quiet">The run has no objective, and so no plan to look at: its agents run on all that they take.</p>
      )
    return <LoadState {...agenda} />
  }
  const { objective, approval, items, decisions, messages_waiting: messages } = agenda.value
  return (
    <div class="stack">
      <section class="box" aria-label="Objective">
        <h2>Objective</h2>
        <p class="answer">{objective}</p>
        {messages > 0 && <p class="quiet">{plural(messages, 'message')} not read yet.</p>}
        {run.ended_at === null && <SayForm path={path} onSaid={agenda.again} />}
      </section>
      {approval && <ApprovalBox approval={approval} path={path} onApproved={agenda.again} />}
      {items.length === 0 ? (
        <p class="quiet">Nothing is planned yet.</p>
      ) : (
        <AgendaItems items={items} runId={run.run_id} />
      )}
      <DecisionList decisions={decisions} runId={run.run_id} />
    </div>
  )
}

type ApprovalProps = { approval: NonNullable<Agenda['approval']>; path: string; onApproved: () => void }

function ApprovalBox({ approval, path, onApproved }: ApprovalProps) {
  const { connection } = usePage()
  const mayWrite = useMayWrite()
  const action = useAction()
  const { plan_hash, approved_at: at, approved_by: by, wanted_since: since } = approval
  if (at !== null)
    return (
      <p class="quiet">
        The plan was approved <At ts={at} /> by {by}.
      </p>
    )
  const approve = () =>
    action.run(async () => {
      await connection.json(`${path}/approval`, { method: 'POST', json: { plan_hash } })
      onApproved()
    })
  return (
    <div class="notice" role="status">
      <p>
        Nothing of the plan is done before somebody approves it. It has waited for <Since ts={since} />.
      </p>
      {mayWrite && (
        <AskingButton
          label="Approve"
          title="Approve the plan as it is shown?"
          verb="Approve"
          disabled={action.isBusy}
          onAnswer={approve}
        >
          <p>
            Its items begin at once. The plan is <span class="mono">{plan_hash}</span>: if it has changed meanwhile,
            nothing is approved.
          </p>
        </AskingButton>
      )}
      {action.problem}
    </div>
  )
}

function SayForm({ path, onSaid }: { path: string; onSaid: () => void }) {
  const { connection } = usePage()
  const mayWrite = useMayWrite()
  const action = useAction()
  const [text, setText] = useState('')
  if (!mayWrite) return null
  const say = () =>
    action.run(async () => {
      await connection.json(`${path}/messages`, { method: 'POST', json: { text } })
      setText('')
      onSaid()
    })
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== '') say()
      }}
    >
      <input
        type="text"
        class="grow"
        aria-label="Add to the objective"
        placeholder="Add to the objective, such as “leave the tests alone”"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" disabled={action.isBusy || text.trim() === ''}>
        Say
      </button>
      {action.problem}
    </form>
  )
}
