import { useMemo, useState } from 'preact/hooks'
import { figure } from '#domain/figure.ts'
import type { Run } from '#client/wire.ts'
import { linkTo } from '../../core/route.ts'
import type { TreeRow } from '../../core/outcome-tree.ts'
import { totalsOf } from '../../core/run-words.ts'
import { Choice } from '../parts/controls.tsx'
import { CountsBar, StatusBadge } from '../parts/shown.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { LoadLine } from './load-line.tsx'
import { useRun } from './run-context.ts'

const rowHeight = 30

const shown = [
  ['all', 'everything'],
  ['failed', 'where something failed or was blocked'],
  ['open', 'where something is still to be done'],
] as const

const statusesOf: Readonly<Record<string, readonly string[]>> = {
  failed: ['failed', 'blocked'],
  open: ['pending', 'ready', 'dispatched', 'running', 'waiting'],
}

/** Shows the folders, files and definitions of a run with what came of them. */
export function TreeTab({ run }: { run: Run }) {
  const list = useRun().operations()
  const version = list.version.value
  const [opened, setOpened] = useState<ReadonlySet<string>>()
  const [choice, setChoice] = useState('all')
  const open = useMemo(() => opened ?? new Set(list.tree.firstOpen()), [version, opened])
  const rows = useMemo(() => list.tree.rows({ open, statuses: statusesOf[choice] }), [version, open, choice])
  const toggle = (key: string) => {
    const next = new Set(open)
    if (!next.delete(key)) next.add(key)
    setOpened(next)
  }
  return (
    <div class="stack">
      <div class="toolbar">
        <Choice label="Show" value={choice} options={shown} onChange={setChoice} />
        <button onClick={() => setOpened(new Set())}>Close all</button>
        <LoadLine run={run} list={list} />
      </div>
      <VirtualList
        count={rows.length}
        rowHeight={rowHeight}
        label="Code"
        row={(index) => {
          const row = rows[index]
          return row === undefined ? null : <TreeLine row={row} runId={run.run_id} onToggle={toggle} />
        }}
      />
    </div>
  )
}

type TreeLineProps = { row: TreeRow; runId: string; onToggle: (key: string) => void }

function TreeLine({ row, runId, onToggle }: TreeLineProps) {
  const { total, ended } = totalsOf(row.counts)
  const faults = (row.counts['failed'] ?? 0) + (row.counts['blocked'] ?? 0)
  return (
    <div class="tree-line">
      <span class="cut" style={{ paddingLeft: `${row.depth * 16}px` }}>
        {row.kind === 'definition' ? (
          <span class="mono">{row.name}</span>
        ) : (
          <button class="plain" aria-expanded={row.isOpen} onClick={() => onToggle(row.key)}>
            {row.isOpen ? '▾' : '▸'} {row.name}
            {row.kind === 'folder' ? '/' : ''}
          </button>
        )}
      </span>
      {row.kind === 'definition' ? (
        <span class="tree-operations">
          {row.operations.map((operation) => (
            <a key={operation.id} href={linkTo({ page: 'operation', runId, operationId: operation.id })}>
              {operation.agent} <StatusBadge status={operation.status} />
            </a>
          ))}
        </span>
      ) : (
        <>
          <span class="num bad">{faults === 0 ? '' : `${figure(faults)} failed`}</span>
          <span class="num quiet">
            {figure(ended)} / {figure(total)}
          </span>
          <span class="wide">
            <CountsBar counts={row.counts} />
          </span>
        </>
      )}
    </div>
  )
}
