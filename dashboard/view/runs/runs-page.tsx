import { useState } from 'preact/hooks'
import type { Connection } from '#client/connection.ts'
import { plural } from '#domain/timeline/words.ts'
import { matchesRun, runStatuses } from '../../core/run-words.ts'
import { linkTo } from '../../core/route.ts'
import type { RunPage, RunSummary } from '#schemas/run-schema.ts'
import type { z } from 'zod'
import { Choice, SearchField } from '../parts/choice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { LoadState } from '../parts/problem-box.tsx'
import { useFollowed } from '../parts/use-followed.ts'
import { useMayWrite } from '../page-context.ts'
import { RunsTable } from './runs-table.tsx'

/** Lists what changes a run in the list; what a model says does not. */
const categories = ['run_lifecycle', 'worker_output', 'decision', 'blocked', 'failed', 'escalation'] as const

/** Lists the runs as they are now, the newest first. */
export function RunsPage() {
  const [pages, setPages] = useState(1)
  const loaded = useFollowed('runs', { load: (connection, signal) => readRuns(connection, pages, signal), categories })
  const mayWrite = useMayWrite()
  const [status, setStatus] = useState('')
  const [words, setWords] = useState('')
  const list = loaded.value
  const counted = runStatuses.map((name) => {
    const count = list?.runs.filter((run) => run.status === name).length ?? 0
    return [name, `${name} (${count})`] as const
  })
  const shown = list?.runs.filter((run) => (status === '' || run.status === status) && matchesRun(run, words))
  const readOlder = () => {
    setPages(pages + 1)
    loaded.again()
  }
  return (
    <>
      <PageHead title="Runs">
        {mayWrite && (
          <a class="button primary" href={linkTo({ page: 'submit' })}>
            New run
          </a>
        )}
      </PageHead>
      <LoadState {...loaded} />
      <div class="toolbar" role="search">
        <SearchField
          label="Search the runs"
          hint="Search by id, objective, agent, label or repository"
          value={words}
          onChange={setWords}
        />
        <Choice label="Status" value={status} options={[['', 'every status'], ...counted]} onChange={setStatus} />
      </div>
      {shown && <RunsTable runs={shown} />}
      {list !== undefined && shown !== undefined && (
        <p class="row quiet" role="status">
          {list.runs.length === 0
            ? 'There is no run yet.'
            : `${plural(shown.length, 'run')} of the newest ${list.runs.length}`}
          {list.hasOlder && <button onClick={readOlder}>Show older runs</button>}
        </p>
      )}
    </>
  )
}

const pageSize = 50

/** Reads so many pages of the list. */
async function readRuns(connection: Connection, pages: number, signal: AbortSignal) {
  const runs: RunSummary[] = []
  let before: string | undefined
  for (let read = 0; read < pages && (read === 0 || before !== undefined); read += 1) {
    const page = await connection.json<z.infer<typeof RunPage>>('/v1/runs', {
      query: { limit: pageSize, before },
      signal,
    })
    runs.push(...page.runs)
    before = page.next ?? undefined
  }
  return { runs, hasOlder: before !== undefined }
}
