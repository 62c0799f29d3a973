import { pause } from '#client/timers.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import { visibleText } from '../../core/review-words.ts'
import { useLoaded } from '../parts/use-loaded.ts'
import type { ReviewScreen } from './review-screen.ts'

/** Changes that are only scrolled past ask for nothing. */
const restMs = 200

/** Says what the agent has said of its work at the end; of a program, what it does. */
export function SummaryLine({ screen, change }: { screen: ReviewScreen; change: ChangeView }) {
  const { connection, runPath } = screen.desk
  const { rules, operation_id: id } = change
  const { value } = useLoaded(`summary ${id}`, async (signal) => {
    if (rules.length > 0) return undefined
    await pause(restMs, signal)
    return (await connection.json<OperationView>(`${runPath}/operations/${id}`, { signal })).outcome?.summary
  })
  const text = rules.length > 0 ? `The safe fixes of ${rules.join(', ')} in this file, made without a model.` : value
  return text === undefined || text === '' ? null : <p class="summary">{visibleText(text)}</p>
}
