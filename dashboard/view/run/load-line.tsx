import { figure } from '#domain/figure.ts'
import type { Run } from '#client/wire.ts'
import type { OperationList } from '../../core/operation-list.ts'
import { totalsOf } from '../../core/run-words.ts'
import { ProblemBox } from '../parts/shown.tsx'

/** Says how much of the operations is here. They are read in the background. */
export function LoadLine({ run, list }: { run: Run; list: OperationList }) {
  if (list.error.value !== undefined) return <ProblemBox error={list.error.value} />
  const { total } = totalsOf(run.counts)
  if (total === 0) return <span class="quiet">Nothing is planned yet.</span>
  return (
    <span class="quiet" role="status">
      {figure(list.rows.length)} {list.isWhole.value ? 'operations' : `of ${figure(total)} operations read …`}
    </span>
  )
}
