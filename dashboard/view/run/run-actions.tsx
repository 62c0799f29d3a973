import { useState } from 'preact/hooks'
import type { Outgoing } from '#client/connection.ts'
import { figure } from '#domain/figure.ts'
import type { Run } from '#client/wire.ts'
import { type Action, AskingButton, saveFile, useAction } from '../parts/controls.tsx'
import { OutsideLink } from '../parts/shown.tsx'
import { useMayWrite, usePage } from '../page-context.ts'
import { numberIn } from '../../core/new-run-form.ts'
import { useRun } from './run-context.ts'

/** Shows what can be done with a run as a whole. */
export function RunActions({ run }: { run: Run }) {
  const { connection } = usePage()
  const { feed } = useRun()
  const mayWrite = useMayWrite()
  const action = useAction()
  const path = `/v1/runs/${encodeURIComponent(run.run_id)}`
  const send = (part: string, outgoing: Outgoing) =>
    action.run(async () => {
      await connection.json(`${path}/${part}`, outgoing)
      await feed.readAgain()
    })
  return (
    <div class="row">
      {mayWrite && <SteeringButtons run={run} isBusy={action.isBusy} send={send} />}
      {run.ended_at !== null && <PatchButton run={run} action={action} path={path} />}
      {run.publication?.pulls.map(({ url, number, state, is_draft: isDraft }) => (
        <OutsideLink key={url} url={url} words={`Pull request ${number} (${isDraft ? 'draft, ' : ''}${state})`} />
      ))}
      {run.publication?.fault && (
        <span class="bad">
          {run.publication.fault.error_code} {run.publication.fault.reason}
        </span>
      )}
      {action.problem}
    </div>
  )
}

type SteeringProps = { run: Run; isBusy: boolean; send: (part: string, outgoing: Outgoing) => void }

const post = { method: 'POST', json: {} } as const

function SteeringButtons({ run, isBusy, send }: SteeringProps) {
  const isOpen = run.ended_at === null
  const asking = (part: string) => ({ disabled: isBusy, onAnswer: () => send(part, post) })
  return (
    <>
      {isOpen && run.budget.tokens !== null && <BudgetButton {...{ run, isBusy, send }} />}
      {run.cancel_requested && isOpen && <span class="quiet">Cancelling …</span>}
      {!run.cancel_requested && isOpen && (
        <AskingButton
          label="Cancel the run"
          title="Cancel the run?"
          verb="Cancel the run"
          isDangerous
          {...asking('cancel')}
        >
          <p>What has ended is kept; the rest is not done. It can be retried later.</p>
        </AskingButton>
      )}
      {!isOpen && isRetryable(run) && (
        <AskingButton label="Retry" title="Retry what did not end well?" verb="Retry" {...asking('retry')}>
          <p>The run goes on with another generation: it repeats what failed, was blocked or was not done.</p>
        </AskingButton>
      )}
    </>
  )
}

function BudgetButton({ run, isBusy, send }: SteeringProps) {
  const [tokens, setTokens] = useState('')
  const wanted = numberIn(tokens) // what is no number the service refuses, and says so
  return (
    <AskingButton
      label="Budget"
      title="Change the budget"
      verb="Set it"
      disabled={isBusy}
      onAnswer={() =>
        send('budget', { method: 'PUT', json: { tokens: Number.isNaN(wanted) ? tokens : (wanted ?? null) } })
      }
    >
      <label class="field">
        Tokens that its agents may use in all
        <span class="quiet">
          {figure(run.budget.used)} of {figure(run.budget.tokens ?? 0)} are used. Empty: any number.
        </span>
        <input
          type="text"
          inputmode="numeric"
          value={tokens}
          onInput={(event) => setTokens(event.currentTarget.value)}
        />
      </label>
    </AskingButton>
  )
}

function isRetryable({ status, counts }: Run): boolean {
  return status !== 'completed' || counts.failed + counts.blocked + counts.cancelled > 0
}

function PatchButton({ run, action, path }: { run: Run; action: Action; path: string }) {
  const { connection } = usePage()
  const [note, setNote] = useState('')
  const take = () =>
    action.run(async () => {
      const answer = await connection.send(`${path}/patch`)
      if (answer.status === 204) return setNote('The run proposes no change.')
      saveFile(await answer.blob(), `${run.run_id}.patch`)
      return setNote('')
    })
  return (
    <>
      <button disabled={action.isBusy} onClick={take}>
        Download the patch
      </button>
      {note !== '' && (
        <span class="quiet" role="status">
          {note}
        </span>
      )}
    </>
  )
}
