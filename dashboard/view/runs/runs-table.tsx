import { figure } from '#domain/figure.ts'
import { plural, waitingText } from '#domain/timeline/words.ts'
import type { RunSummary } from '#schemas/run-schema.ts'
import { roughly } from '../../core/page-time.ts'
import { linkTo } from '../../core/route.ts'
import { repositoryName, runTitle, totalsOf } from '../../core/run-words.ts'
import { CountsBar } from '../parts/counts-bar.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { At, Since } from '../parts/times.tsx'
import { TableBox } from '../parts/table-box.tsx'

const columns = [
  ['Status'],
  ['Run', 'widest'],
  ['Operations', 'wide'],
  ['Ended', 'num'],
  ['Tokens', 'num wide'],
  ['Submitted', 'wide'],
  ['Took', 'num wide'],
] as const

export function RunsTable({ runs }: { runs: readonly RunSummary[] }) {
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
