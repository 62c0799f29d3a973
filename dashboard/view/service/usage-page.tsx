import { useState } from 'preact/hooks'
import type { UsageView } from '#schemas/usage-schema.ts'
import type { ProjectBudgetView } from '#schemas/project-schema.ts'
import { usePage } from '../page-context.ts'
import { PageHead } from '../parts/page-head.tsx'
import { LoadState } from '../parts/problem-box.tsx'
import { useLoaded } from '../parts/use-loaded.ts'

const groups = ['day', 'agent', 'project'] as const
const number = new Intl.NumberFormat()

/** Shows what was used, and what a day's budget of the project has left. */
export function UsagePage() {
  const { connection, session } = usePage()
  const [by, setBy] = useState<(typeof groups)[number]>('day')
  const usage = useLoaded(`usage ${by}`, (signal) => connection.json<UsageView>('/v1/usage', { query: { by }, signal }))
  const path = `/v1/projects/${encodeURIComponent(session.project_id)}/budget`
  const budget = useLoaded('budget', (signal) => connection.json<ProjectBudgetView>(path, { signal }))
  return (
    <>
      <PageHead title="Usage">
        <label class="field">
          By{' '}
          <select
            value={by}
            onChange={(event) => setBy(groups.find((one) => one === event.currentTarget.value) ?? 'day')}
          >
            {groups.map((group) => (
              <option key={group}>{group}</option>
            ))}
          </select>
        </label>
      </PageHead>
      <LoadState {...usage} />
      {budget.value && <Today budget={budget.value} project={session.project_id} />}
      {usage.value && <Figures usage={usage.value} />}
    </>
  )
}

function Today({ budget, project }: { budget: ProjectBudgetView; project: string }) {
  const { tokens_per_day: most, used_today: used } = budget
  return (
    <p>
      Today the project {project} has used {number.format(used)} tokens
      {most === null ? '; it may use any number.' : ` of the ${number.format(most)} that it may use a day.`}
    </p>
  )
}

function Figures({ usage: { since, until, by, rows, total } }: { usage: UsageView }) {
  return (
    <div class="table-box">
      <table>
        <caption class="quiet">
          {since} to {until}
        </caption>
        <thead>
          <tr>
            <th>{by}</th>
            <th class="num">Operations</th>
            <th class="num">Requests</th>
            <th class="num">Prompt tokens</th>
            <th class="num">Completion tokens</th>
            <th class="num">Proposed</th>
            <th class="num">Accepted</th>
            <th class="num">Tokens for each accepted</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <FigureRow key={row.of} name={row.of} figures={row} />
          ))}
        </tbody>
        <tfoot>
          <FigureRow name="all" figures={total} />
        </tfoot>
      </table>
    </div>
  )
}

function FigureRow({ name, figures }: { name: string; figures: UsageView['total'] }) {
  const { operations, turns, prompt_tokens: prompt, completion_tokens: completion, proposed, accepted } = figures
  const each = accepted === 0 ? '–' : number.format(Math.round((prompt + completion) / accepted))
  return (
    <tr>
      <td>{name}</td>
      {[operations, turns, prompt, completion, proposed, accepted].map((figure, at) => (
        <td key={at} class="num">
          {number.format(figure)}
        </td>
      ))}
      <td class="num">{each}</td>
    </tr>
  )
}
