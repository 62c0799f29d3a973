import type { RunPage } from '#schemas/run-schema.ts'
import type { z } from 'zod'
import { linkTo } from '../../core/route.ts'
import { ProblemBox } from '../parts/problem-box.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { usePage } from '../page-context.ts'

type Listed = z.infer<typeof RunPage>

export function RunsPage() {
  const { connection } = usePage()
  const { value: page, error } = useLoaded('runs', (signal) => connection.json<Listed>('/v1/runs', { signal }))
  if (error !== undefined) return <ProblemBox error={error} />
  return (
    <>
      <h1>Runs</h1>
      <ul>
        {page?.runs.map((run) => (
          <li key={run.run_id}>
            <a href={linkTo({ page: 'run', runId: run.run_id, tab: 'overview' })}>{run.run_id}</a> {run.status}
          </li>
        ))}
      </ul>
    </>
  )
}
