import { useMemo, useState } from 'preact/hooks'
import { figure } from '#domain/figure.ts'
import { formatSeconds, nodePlace } from '#domain/timeline/words.ts'
import type { Run } from '#client/wire.ts'
import type { OperationRow } from '../../core/outcome-tree.ts'
import { linkTo } from '../../core/route.ts'
import { operationStatuses } from '../../core/run-words.ts'
import { StatusBadge } from '../parts/status-badge.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { LoadLine } from './load-line.tsx'
import { useRun } from './run-context.ts'

const rowHeight = 30

/** Lists the operations of a run, in the order of its plan. */
export function OperationsTab({ run }: { run: Run }) {
  const list = useRun().operations()
  const version = list.version.value
  const [status, setStatus] = useState('')
  const [agent, setAgent] = useState('')
  const [words, setWords] = useState('')
  const rows = useMemo(
    () =>
      [...list.rows.values()].filter(
        (row) =>
          (status === '' || row.status === status) && (agent === '' || row.agent === agent) && matches(row, words),
      ),
    [version, status, agent, words],
  )
  const agents = [...new Set(run.funnel.map((part) => part.agent).concat(run.request.agents))].toSorted()
  return (
    <div class="stack">
      <div class="toolbar" role="search">
        <input
          type="search"
          class="grow"
          placeholder="Search by file, definition or error code"
          aria-label="Search the operations"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <select aria-label="Status" value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
          <option value="">every status</option>
          {operationStatuses.map((name) => (
            <option key={name} value={name}>
              {name} ({figure(run.counts[name])})
            </option>
          ))}
        </select>
        <select aria-label="Agent" value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
          <option value="">every agent</option>
          {agents.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <LoadLine run={run} list={list} />
      </div>
      <div class="stack tight">
        <div class="operation-line quiet" aria-hidden="true">
          <span>Status</span>
          <span>Definition</span>
          <span class="wide">Agent</span>
          <span class="wide">Error</span>
          <span class="num wide">Took</span>
          <span class="num wide">Tokens</span>
        </div>
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

function matches({ path, name, code = '', id }: OperationRow, words: string): boolean {
  if (words === '') return true
  const text = `${path} ${name} ${code} ${id}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
