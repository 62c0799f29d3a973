import { figure } from '#domain/figure.ts'
import { plural, formatSeconds } from '#domain/timeline/words.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import { linkTo } from '../../core/route.ts'
import { type Fact, Facts } from '../parts/facts.tsx'
import { At } from '../parts/times.tsx'

/** Says what an operation is about, and what it took. */
export function OperationFacts({ operation }: { operation: OperationView }) {
  const {
    node,
    outcome,
    attempt,
    lost,
    generation,
    started_at: startedAt,
    repeats,
    superseded_by: next,
    run_id: runId,
  } = operation
  const other = (operationId: string, words: string) => (
    <a href={linkTo({ page: 'operation', runId, operationId })}>{words}</a>
  )
  const facts: readonly Fact[] = [
    [node.kind, <span class="mono">{`${node.path}:${node.start_line}–${node.end_line}`}</span>],
    ['Said', outcome !== null && outcome.reason === undefined && outcome.summary],
    ['Started', startedAt !== null && <At ts={startedAt} />],
    ['Attempt', attempt > 0 && `${attempt}${lost > 0 ? `, ${plural(lost, 'worker')} lost` : ''}`],
    ['Generation', generation > 1 && String(generation)],
    ['Took', outcome !== null && tookText(outcome)],
    ['Does again', repeats !== null && other(repeats, 'what an earlier operation did')],
    ['Done again', next !== null && other(next, 'by a later operation: this one does not count any more')],
  ]
  return <Facts facts={facts} />
}

function tookText({ turns, duration_ms: ms, tokens }: NonNullable<OperationView['outcome']>): string {
  const { prompt, completion } = tokens
  return `${formatSeconds(ms)}, ${plural(turns, 'turn')}, ${figure(prompt)} tokens read and ${figure(completion)} written`
}
