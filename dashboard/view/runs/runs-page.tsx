import { useState } from 'preact/hooks'
import type { Connection } from '#client/connection.ts'
import { plural, waitingText } from '#domain/timeline/words.ts'
import { matchesRun, repositoryName, runStatuses, runTitle, totalsOf } from '../../core/run-words.ts'
import { linkTo } from '../../core/route.ts'
import type { RunPage, RunSummary } from '#schemas/run-schema.ts'
import type { z } from 'zod'
import { Choice, SearchField } from '../parts/controls.tsx'
import { At, CountsBar, LoadState, PageHead, Since, StatusBadge, TableBox } from '../parts/shown.tsx'
import { useFollowed } from '../parts/use-followed.ts'
import { useMayWrite } from '../page-context.ts'
import { figure } from '#domain/figure.ts'
import { roughly } from '../../core/page-time.ts'

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

const columns = [
  ['Status'],
  ['Run', 'widest'],
  ['Operations', 'wide'],
  ['Ended', 'num'],
  ['Tokens', 'num wide'],
  ['Submitted', 'wide'],
  ['Took', 'num wide'],
] as const

function RunsTable({ runs }: { runs: readonly RunSummary[] }) {
  if (runs.length === 0) return null
  return (
    <TableBox label="Runs" columns={columns}>
      {runs.map((run) => (
        <RunRow key={run.run_id} run={run} />
      ))}
    </TableBox>
  )
}

function RunRow({ run }: { run: RunSummary }) {
  const { total, ended } = totalsOf(run.counts)
  return (
    <tr>
      <td>
        <StatusBadge status={run.status} />
      </td>
      <th scope="row" class="wrap">
        <a href={linkTo({ page: 'run', runId: run.run_id, tab: 'overview' })}>{runTitle(run)}</a>
        <div class="quiet small">
          {[run.run_id, repositoryName(run)].filter(Boolean).join(' · ')}
          <span class="wide"> {labelsOf(run)}</span>
        </div>
        <Hint run={run} />
      </th>
      <td class="wide">
        <CountsBar counts={run.counts} />
      </td>
      <td class="num">{total === 0 ? '' : `${figure(ended)} / ${figure(total)}`}</td>
      <td class="num wide">{run.budget.used === 0 ? '' : figure(run.budget.used)}</td>
      <td class="wide">
        <At ts={run.accepted_at} />
      </td>
      <td class="num wide">{run.duration_ms === null ? <Since ts={run.accepted_at} /> : roughly(run.duration_ms)}</td>
    </tr>
  )
}

function labelsOf({ request }: RunSummary): string {
  return Object.entries(request.labels)
    .map(([name, text]) => `${name}=${text}`)
    .join(' ')
}

/** Says what a run waits for, or why it ended so. */
function Hint({ run }: { run: RunSummary }) {
  if (run.open_questions > 0 && run.ended_at === null)
    return (
      <a class="small warn" href={linkTo({ page: 'run', runId: run.run_id, tab: 'questions' })}>
        waits for {run.open_questions === 1 ? 'an answer' : `${run.open_questions} answers`}
      </a>
    )
  const { failed, blocked } = run.counts
  const waits = waitingText(run.waiting_for)
  if (waits !== '') return <div class="small warn">{waits}</div>
  if (run.error_code === null && failed + blocked > 0)
    return (
      <a class="small bad" href={linkTo({ page: 'run', runId: run.run_id, tab: 'overview' })}>
        {plural(failed + blocked, 'operation')} failed or blocked
      </a>
    )
  if (run.error_code === null) return null
  return (
    <div class="small bad">
      {run.error_code} {run.reason}
    </div>
  )
}
