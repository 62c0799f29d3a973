import { useEffect, useMemo, useState } from 'preact/hooks'
import { plural } from '#domain/timeline/words.ts'
import type { RunSummary } from '#schemas/run-schema.ts'
import { matchesRun, runStatuses } from '../../core/run-words.ts'
import { linkTo } from '../../core/route.ts'
import { openRunsFeed } from '../../core/runs-feed.ts'
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
      <Filters list={list?.runs ?? []} {...{ status, setStatus, words, setWords }} />
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

type FilterProps = {
  list: readonly RunSummary[]
  status: string
  setStatus: (status: string) => void
  words: string
  setWords: (words: string) => void
}

function Filters({ list, status, setStatus, words, setWords }: FilterProps) {
  const count = (wanted: string) => list.filter((run) => run.status === wanted).length
  return (
    <div class="toolbar" role="search">
      <input
        type="search"
        class="grow"
        placeholder="Search by id, objective, agent, label or repository"
        aria-label="Search the runs"
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      <select aria-label="Status" value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
        <option value="">every status</option>
        {runStatuses.map((name) => (
          <option key={name} value={name}>
            {name} ({count(name)})
          </option>
        ))}
      </select>
    </div>
  )
}
