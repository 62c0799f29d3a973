import type { ComponentChildren } from 'preact'
import type { OperationView } from '#schemas/operation-schema.ts'
import type { RunSummary } from '#schemas/run-schema.ts'
import { figure } from '#domain/figure.ts'
import { type Counts, operationStatuses, totalsOf } from '../../core/run-words.ts'
import { clockTime, currentTime, roughly } from '../../core/page-time.ts'
import { useEffect, useRef } from 'preact/hooks'
import type { Loaded } from './use-loaded.ts'
import { faultWords } from '../../core/review-words.ts'

export type Fact = readonly [name: string, value: ComponentChildren]

/** Lists names and values; those without a value are left out. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined || value === null || value === '' || value === false ? null : (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ),
      )}
    </dl>
  )
}

type Status = RunSummary['status'] | OperationView['status']
export type StatusColour = 'idle' | 'busy' | 'good' | 'plain' | 'warn' | 'bad'

const colours: Readonly<Record<Status, StatusColour>> = {
  queued: 'idle',
  pending: 'idle',
  ready: 'idle',
  dispatched: 'idle',
  running: 'busy',
  waiting: 'warn',
  completed: 'good',
  succeeded: 'good',
  unchanged: 'plain',
  skipped: 'plain',
  cancelled: 'plain',
  failed: 'bad',
  blocked: 'bad',
}

function colourOf(status: Status): StatusColour {
  return colours[status]
}

export function StatusBadge({ status }: { status: Status }) {
  return (
    <span class="badge" data-state={colours[status]}>
      {status}
    </span>
  )
}

/** Shows operations by status as one bar. Its words are read out, and are the legend where there is one. */
export function CountsBar({ counts, hasLegend }: { counts: Counts; hasLegend?: boolean }) {
  const parts = operationStatuses.flatMap((status) => {
    const count = counts[status] ?? 0
    return count === 0 ? [] : [{ status, count }]
  })
  const { total } = totalsOf(counts)
  const words = parts.map(({ status, count }) => `${figure(count)} ${status}`).join(', ')
  if (total === 0) return null
  return (
    <>
      <div class="bar" role="img" aria-label={words} title={words}>
        {parts.map(({ status, count }) => (
          <span key={status} data-state={colourOf(status)} data-status={status} style={{ flexGrow: count }} />
        ))}
      </div>
      {hasLegend === true && (
        <ul class="legend">
          {parts.map(({ status, count }) => (
            <li key={status}>
              <span class="dot" data-state={colourOf(status)} data-status={status} /> {status} <b>{figure(count)}</b>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** Shows when something was. */
export function At({ ts }: { ts: string }) {
  return (
    <time datetime={ts} title={new Date(ts).toLocaleString()}>
      {clockTime(ts)}
    </time>
  )
}

/** Shows for how long something lasts; it counts on. */
export function Since({ ts }: { ts: string }) {
  return (
    <time datetime={ts} title={new Date(ts).toLocaleString()}>
      {roughly(currentTime() - Date.parse(ts))}
    </time>
  )
}

type TableBoxProps = {
  label: string
  /** Are the heads of the columns, each with its classes. */
  columns: readonly (readonly [name: string, classes?: string])[]
  children: ComponentChildren
}

/** Holds a table that may be wider than the page: it scrolls here, also by the keyboard. Its children are the rows. */
export function TableBox({ label, columns, children }: TableBoxProps) {
  return (
    <div class="table-box" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(([name, classes]) => (
              <th key={name} scope="col" class={classes}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

type DataTableProps = Omit<TableBoxProps, 'children'> & { rows: readonly (readonly ComponentChildren[])[] }

/** Shows rows of one cell for each column, with the classes of it. */
export function DataTable({ rows, ...box }: DataTableProps) {
  return (
    <TableBox {...box}>
      {rows.map((cells, at) => (
        <tr key={at}>
          {cells.map((cell, column) => (
            <td key={column} class={box.columns[column]?.[1]}>
              {cell}
            </td>
          ))}
        </tr>
      ))}
    </TableBox>
  )
}

/** Shows the one `h1` of a page with what can be done there, and names the document after it. It takes the focus when somebody has come here from another page. */
export function PageHead({ title, children }: { title: string; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (document.activeElement?.id === 'content') heading.current?.focus({ preventScroll: true })
  }, [])
  useEffect(() => void (document.title = `${title} · Remora`), [title])
  return (
    <div class="page-head">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </div>
  )
}

export type Tab = { name: string; label: ComponentChildren; href: string }

/** Shows links to the parts of a page. */
export function Tabs({ label, tabs, current }: { label: string; tabs: readonly Tab[]; current: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.name} href={tab.href} aria-current={tab.name === current ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  )
}

/** An address comes from a code host: one that is not of the web is shown, and not followed. */
export function OutsideLink({ url, words }: { url: string; words: string }) {
  if (!/^https?:\/\//.test(url)) return <span>{words}</span>
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {words}
    </a>
  )
}

/** Says what went wrong, with its code, and offers to try again. */
export function ProblemBox({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{faultWords(error)}</p>
      {onRetry && <button onClick={onRetry}>Try again</button>}
    </div>
  )
}

/** Says that something is still loaded, or what went wrong with that. */
export function LoadState({ value, error, again }: Loaded<unknown>) {
  if (error !== undefined) return <ProblemBox error={error} onRetry={again} />
  return value === undefined ? <p class="quiet">…</p> : null
}
