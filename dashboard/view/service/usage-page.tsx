import { figure } from '#domain/figure.ts'
import { useState } from 'preact/hooks'
import type { UsageView } from '#schemas/usage-schema.ts'
import type { ProjectBudgetView } from '#schemas/project-schema.ts'
import { usePage } from '../page-context.ts'
import { DataTable, LoadState, PageHead } from '../parts/shown.tsx'
import { Choice } from '../parts/controls.tsx'
import { useLoaded } from '../parts/use-loaded.ts'

const groups = ['day', 'agent', 'project'] as const

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
        <Choice
          label="By"
          value={by}
          options={groups.map((group) => [group, `by ${group}`])}
          onChange={(value) => setBy(groups.find((one) => one === value) ?? 'day')}
        />
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
      Today the project {project} has used {figure(used)} tokens
      {most === null ? '; it may use any number.' : ` of the ${figure(most)} that it may use a day.`}
    </p>
  )
}

const columns = [
  'Operations',
  'Requests',
  'Prompt tokens',
  'Completion tokens',
  'Proposed',
  'Accepted',
  'Tokens for each accepted',
]

function Figures({ usage: { since, until, by, rows, total } }: { usage: UsageView }) {
  return (
    <>
      <p class="quiet">
        {since} to {until}
      </p>
      <DataTable
        label="Usage"
        columns={[[by], ...columns.map((name) => [name, 'num'] as const)]}
        rows={[...rows.map((row) => cellsOf(row.of, row)), cellsOf('all', total)]}
      />
    </>
  )
}

function cellsOf(name: string, figures: UsageView['total']): string[] {
  const { operations, turns, prompt_tokens: prompt, completion_tokens: completion, proposed, accepted } = figures
  const each = accepted === 0 ? '–' : figure(Math.round((prompt + completion) / accepted))
  return [name, ...[operations, turns, prompt, completion, proposed, accepted].map((count) => figure(count)), each]
}
