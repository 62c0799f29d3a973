import { figure } from '#domain/figure.ts'
import { type Counts, operationStatuses, totalsOf } from '../../core/run-words.ts'
import { colourOf } from './status-badge.tsx'

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
