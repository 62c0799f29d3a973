import { plural } from '#domain/timeline/words.ts'
import type { Agenda } from '#client/wire.ts'
import { linkTo } from '../../core/route.ts'
import { At } from '../parts/times.tsx'

type Decision = Agenda['decisions'][number]

/** Shows the decisions that made a plan so, each with its reason and what that rests on. */
export function DecisionList({ decisions, runId }: { decisions: readonly Decision[]; runId: string }) {
  if (decisions.length === 0) return null
  return (
    <section class="box" aria-label="Decisions">
      <h2>Why</h2>
      <ol class="decisions">
        {decisions.map((decision) => (
          <li key={decision.seq} class="stack tight">
            <p>
              <a href={linkTo({ page: 'run', runId, tab: 'timeline', seq: decision.seq })}>{decision.seq}</a>{' '}
              <At ts={decision.ts} /> <span class="badge">{decision.kind.replaceAll('_', ' ')}</span>{' '}
              {decision.rationale === null && decision.summary}
            </p>
            {decision.rationale !== null && <p class="answer">{decision.rationale}</p>}
            {decision.reason !== null && <p class="bad">{decision.reason}</p>}
            {decision.given !== null && <pre>{decision.given}</pre>}
            <p class="quiet small">{detailsOf(decision)}</p>
            {decision.cited.map((cited) => (
              <p key={cited.seq} class="small">
                ← <a href={linkTo({ page: 'run', runId, tab: 'timeline', seq: cited.seq })}>{cited.seq}</a>{' '}
                {cited.summary}
              </p>
            ))}
          </li>
        ))}
      </ol>
    </section>
  )
}

function detailsOf({ decided_by: by, model, tokens, confidence, item_ids: items }: Decision): string {
  return [
    by,
    model,
    tokens !== null && plural(tokens, 'token'),
    confidence !== null && `confidence ${confidence}`,
    items.length > 0 && `items ${items.join(', ')}`,
  ]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' · ')
}
