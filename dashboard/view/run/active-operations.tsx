import { doingText, nodePlace, plural } from '#domain/timeline/words.ts'
import type { Run } from '#client/wire.ts'
import { linkTo } from '../../core/route.ts'
import { Since } from '../parts/times.tsx'

const shown = 10
const doings = ['prepare', 'slot', 'model', 'tool', 'deferred', 'proof', 'person'] as const

/** Shows what moves now. */
export function ActiveOperations({ run }: { run: Run }) {
  const words = doings.flatMap((doing) => {
    const count = run.active[doing] ?? 0
    return count === 0 ? [] : [`${count} ${doingText(doing, count)}`]
  })
  return (
    <section class="box" aria-label="What moves now">
      <h2>What moves now</h2>
      <p class="quiet">
        {words.length === 0 ? 'No operation runs.' : `${words.join(', ')}.`}{' '}
        {run.model_requests > 0 && `Model servers work on ${plural(run.model_requests, 'request')}.`}
      </p>
      <table>
        <tbody>
          {run.active_operations.slice(0, shown).map((operation) => (
            <tr key={operation.operation_id}>
              <th scope="row" class="wrap">
                <a href={linkTo({ page: 'operation', runId: run.run_id, operationId: operation.operation_id })}>
                  {nodePlace(operation.path, operation.qualified_name)}
                </a>
                <div class="quiet small">
                  {operation.agent}: {doingText(operation.doing)}
                  {operation.tool === undefined ? '' : ` (${operation.tool})`}
                  {operation.turn ? `, turn ${operation.turn}` : ''}
                </div>
              </th>
              <td class="num">
                <Since ts={operation.since} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {run.active_operations.length > shown && (
        <a href={linkTo({ page: 'run', runId: run.run_id, tab: 'operations' })}>All operations</a>
      )}
    </section>
  )
}
