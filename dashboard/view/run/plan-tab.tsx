import { useState } from 'preact/hooks'
import { RemoraProblem } from '#client/connection.ts'
import { plural } from '#domain/timeline/words.ts'
import type { Agenda, Run } from '#client/wire.ts'
import { At, LoadState, Since, type StatusColour, TableBox } from '../parts/shown.tsx'
import { AskingButton, useAction } from '../parts/controls.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { useMayWrite, usePage } from '../page-context.ts'
import { useHeard, useRun } from './run-context.ts'
import { figure } from '#domain/figure.ts'
import { linkTo } from '../../core/route.ts'

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

type Item = Agenda['items'][number]

const colours: Readonly<Record<Item['status'], StatusColour>> = {
  waiting: 'idle',
  planning: 'busy',
  active: 'busy',
  ended: 'good',
  blocked: 'bad',
  cancelled: 'plain',
  stale: 'warn',
}

const columns = [
  ['Status'],
  ['Item'],
  ['Operations', 'num'],
  ['Changes', 'num wide'],
  ['Findings', 'num wide'],
  ['Tokens', 'num wide'],
] as const

/** Shows the items of a plan: who does what where, what they wait for, and what came of it. */
export function AgendaItems({ items, runId }: { items: readonly Item[]; runId: string }) {
  return (
    <TableBox label="Items of the plan" columns={columns}>
      {items.map((item) => (
        <ItemRow key={item.item_id} item={item} runId={runId} />
      ))}
    </TableBox>
  )
}

function ItemRow({ item, runId }: { item: Item; runId: string }) {
  const { counts } = item
  return (
    <tr>
      <td>
        <span class="badge" data-state={colours[item.status]}>
          {item.status}
        </span>
      </td>
      <th scope="row" class="wrap">
        <b>{item.item_id}</b> {item.capability}: {item.objective}
        <div class="quiet small">{detailsOf(item)}</div>
        {item.success_criteria.map((criterion) => (
          <div key={`${criterion.kind} ${criterion.text}`} class="small">
            {criterion.met === null ? '·' : criterion.met ? '✓' : '✗'}{' '}
            {criterion.text ?? criterion.kind.replaceAll('_', ' ')}
            {criterion.least === undefined ? '' : `, at least ${criterion.least}`}
            <span class="hidden">
              {criterion.met === null ? ' (not known)' : criterion.met ? ' (met)' : ' (not met)'}
            </span>
          </div>
        ))}
        {counts?.fault && (
          <div class="bad small">
            {counts.fault.error_code} {counts.fault.reason}
          </div>
        )}
        {item.decided_in !== null && (
          <a class="small" href={linkTo({ page: 'run', runId, tab: 'timeline', seq: item.decided_in })}>
            decided in event {item.decided_in}
          </a>
        )}
      </th>
      <td class="num">{operationsOf(item)}</td>
      <td class="num wide">{counts && figure(counts.change_sets)}</td>
      <td class="num wide">{counts && figure(counts.findings)}</td>
      <td class="num wide">{counts && figure(counts.tokens)}</td>
    </tr>
  )
}

function operationsOf({ counts }: Item): string {
  if (counts === null) return ''
  if (counts.estimate !== null && counts.planned === 0) return `about ${figure(counts.estimate.operations)}`
  return `${figure(counts.planned - counts.open)} / ${figure(counts.planned)}`
}

/** Says where an item works, what it waits for and may use, and how its operations ended. */
function detailsOf({ where, depends_on: needs, budget, counts, retries }: Item): string {
  const places = [where.paths, where.names, where.languages, where.kinds].flatMap((part) => part ?? [])
  const ends = Object.entries({ ...counts?.ended, ...counts?.faults }).flatMap(([name, count]) =>
    count === 0 ? [] : [`${count} ${name}`],
  )
  return [
    places.length > 0 && `in ${places.join(', ')}`,
    where.node_ids && plural(where.node_ids.length, 'named node'),
    needs.length > 0 && `after ${needs.join(', ')}`,
    budget.operations !== undefined && `at most ${plural(budget.operations, 'operation')}`,
    budget.tokens !== undefined && `at most ${plural(budget.tokens, 'token')}`,
    budget.seconds !== undefined && `at most ${budget.seconds} s`,
    retries > 0 && `retried ${retries} times`,
    ends.join(', '),
  ]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' · ')
}

type Decision = Agenda['decisions'][number]

/** Shows the decisions that made a plan so, each with its reason and what that rests on. */
export function DecisionList({ decisions, runId }: { decisions: readonly Decision[]; runId: string }) {
  if (decisions.length === 0) return null
  return (
    <section class="box" aria-label="Decisions">
      <h2>Why</h2>
      <ol class="decisions">
        {decisions.map((decision) => (
          <li key={decision.seq} class="stack tight">
            <p>
              <a href={linkTo({ page: 'run', runId, tab: 'timeline', seq: decision.seq })}>{decision.seq}</a>{' '}
              <At ts={decision.ts} /> <span class="badge">{decision.kind.replaceAll('_', ' ')}</span>{' '}
              {decision.rationale === null && decision.summary}
            </p>
            {decision.rationale !== null && <p class="answer">{decision.rationale}</p>}
            {decision.reason !== null && <p class="bad">{decision.reason}</p>}
            {decision.given !== null && <pre>{decision.given}</pre>}
            <p class="quiet small">{originOf(decision)}</p>
            {decision.cited.map((cited) => (
              <p key={cited.seq} class="small">
                ← <a href={linkTo({ page: 'run', runId, tab: 'timeline', seq: cited.seq })}>{cited.seq}</a>{' '}
                {cited.summary}
              </p>
            ))}
          </li>
        ))}
      </ol>
    </section>
  )
}

function originOf({ decided_by: by, model, tokens, confidence, item_ids: items }: Decision): string {
  return [
    by,
    model,
    tokens !== null && plural(tokens, 'token'),
    confidence !== null && `confidence ${confidence}`,
    items.length > 0 && `items ${items.join(', ')}`,
  ]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' · ')
}
