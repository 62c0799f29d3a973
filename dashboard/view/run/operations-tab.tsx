import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { figure } from '#domain/figure.ts'
import { formatSeconds, nodePlace } from '#domain/timeline/words.ts'
import type { Run } from '#client/wire.ts'
import { filterRows } from '../../core/filter-rows.ts'
import type { OperationList } from '../../core/operation-list.ts'
import type { OperationRow } from '../../core/outcome-tree.ts'
import { openRefresh } from '../../core/refresh.ts'
import { linkTo } from '../../core/route.ts'
import { operationStatuses, wordsMatcher } from '../../core/run-words.ts'
import { Choice, SearchField } from '../parts/controls.tsx'
import { StatusBadge } from '../parts/shown.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { LoadLine } from './load-line.tsx'
import { useRun } from './run-context.ts'

const rowHeight = 30

type Filter = { status: string; agent: string; words: string }

/** Lists the operations of a run, in the order of its plan. */
export function OperationsTab({ run }: { run: Run }) {
  const list = useRun().operations()
  const [filter, setFilter] = useState<Filter>({ status: '', agent: '', words: '' })
  const rows = useFiltered(list, filter)
  const counted = operationStatuses.map((name) => [name, `${name} (${figure(run.counts[name])})`] as const)
  const agents = [...new Set(run.funnel.map((part) => part.agent).concat(run.request.agents))].toSorted()
  return (
    <div class="stack">
      <div class="toolbar" role="search">
        <SearchField
          label="Search the operations"
          hint="Search by file, definition or error code"
          value={filter.words}
          onChange={(words) => setFilter({ ...filter, words })}
        />
        <Choice
          label="Status"
          value={filter.status}
          options={[['', 'every status'], ...counted]}
          onChange={(status) => setFilter({ ...filter, status })}
        />
        <Choice
          label="Agent"
          value={filter.agent}
          options={[['', 'every agent'], ...agents]}
          onChange={(agent) => setFilter({ ...filter, agent })}
        />
        <LoadLine run={run} list={list} />
      </div>
      <div class="stack tight">
        <Heads />
        <VirtualList
          count={rows.length}
          rowHeight={rowHeight}
          label={`Operations, ${figure(rows.length)} of them`}
          row={(index) => {
            const row = rows[index]
            return row === undefined ? null : <OperationLine row={row} runId={run.run_id} />
          }}
        />
      </div>
    </div>
  )
}

function Heads() {
  return (
    <div class="operation-line quiet" aria-hidden="true">
      <span>Status</span>
      <span>Definition</span>
      <span class="wide">Agent</span>
      <span class="wide">Error</span>
      <span class="num wide">Took</span>
      <span class="num wide">Tokens</span>
    </div>
  )
}

function OperationLine({ row, runId }: { row: OperationRow; runId: string }) {
  return (
    <div class="operation-line">
      <StatusBadge status={row.status} />
      <a class="cut" href={linkTo({ page: 'operation', runId, operationId: row.id })}>
        {nodePlace(row.path, row.name)}
      </a>
      <span class="cut wide">{row.agent}</span>
      <span class="cut bad wide">{row.code}</span>
      <span class="num wide">{row.durationMs === undefined ? '' : formatSeconds(row.durationMs)}</span>
      <span class="num wide">{row.tokens === 0 ? '' : figure(row.tokens)}</span>
    </div>
  )
}

const filterEveryMs = 100

/** Returns the rows that match. The last ones stay until those of another filter are found. */
function useFiltered(list: OperationList, filter: Filter): readonly OperationRow[] {
  const version = list.version.value
  const [found, setFound] = useState(list.rows)
  const wanted = useRef(filter)
  wanted.current = filter
  const leaving = useMemo(() => new AbortController(), [])
  useEffect(() => () => leaving.abort(), [])
  const find = useMemo(
    () => openRefresh(async () => setFound(await filtered(list.rows, wanted.current)), filterEveryMs, leaving.signal),
    [list],
  )
  useEffect(find, [find, version, filter])
  return found
}

async function filtered(rows: readonly OperationRow[], { status, agent, words }: Filter) {
  if (status === '' && agent === '' && words === '') return rows
  const hasThem = wordsMatcher(words)
  return filterRows(rows, (row) => {
    if ((status !== '' && row.status !== status) || (agent !== '' && row.agent !== agent)) return false
    return words === '' || hasThem(`${row.path} ${row.name} ${row.code ?? ''} ${row.id}`)
  })
}
