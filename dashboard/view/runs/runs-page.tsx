import { useEffect, useMemo, useState } from 'preact/hooks'
import { plural } from '#domain/timeline/words.ts'
import { matchesRun, runStatuses } from '../../core/run-words.ts'
import { linkTo } from '../../core/route.ts'
import { openRunsFeed } from '../../core/runs-feed.ts'
import { Choice, SearchField } from '../parts/choice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import { useMayWrite, usePage } from '../page-context.ts'
import { RunsTable } from './runs-table.tsx'

export function RunsPage() {
  const { connection } = usePage()
  const feed = useMemo(() => openRunsFeed(connection), [connection])
  useEffect(() => feed.close, [feed])
  const mayWrite = useMayWrite()
  const [status, setStatus] = useState('')
  const [words, setWords] = useState('')
  const list = feed.list.value
  const counted = runStatuses.map((name) => {
    const count = list?.runs.filter((run) => run.status === name).length ?? 0
    return [name, `${name} (${count})`] as const
  })
  const shown = list?.runs.filter((run) => (status === '' || run.status === status) && matchesRun(run, words))
  return (
    <>
      <PageHead title="Runs">
        {mayWrite && (
          <a class="button primary" href={linkTo({ page: 'submit' })}>
            New run
          </a>
        )}
      </PageHead>
      {feed.error.value !== undefined && <ProblemBox error={feed.error.value} />}
      <div class="toolbar" role="search">
        <SearchField
          label="Search the runs"
          hint="Search by id, objective, agent, label or repository"
          value={words}
          onChange={setWords}
        />
        <Choice label="Status" value={status} options={[['', 'every status'], ...counted]} onChange={setStatus} />
      </div>
      {shown === undefined ? <p class="quiet">…</p> : <RunsTable runs={shown} />}
      {list !== undefined && shown !== undefined && (
        <p class="row quiet" role="status">
          {list.runs.length === 0
            ? 'There is no run yet.'
            : `${plural(shown.length, 'run')} of the newest ${list.runs.length}`}
          {list.hasOlder && <button onClick={feed.readOlder}>Show older runs</button>}
        </p>
      )}
    </>
  )
}
