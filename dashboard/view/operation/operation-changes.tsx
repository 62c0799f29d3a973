import { useState } from 'preact/hooks'
import type { z } from 'zod'
import type { ChangePage, ChangeView } from '#schemas/change-schema.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import { linkTo } from '../../core/route.ts'
import { ProblemBox } from '../parts/problem-box.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { usePage } from '../page-context.ts'
import { DecisionLine } from '../review/decision-line.tsx'
import { DiffView } from '../review/diff-view.tsx'
import { EvidencePanel } from '../review/evidence-panel.tsx'

const states = { pending: undefined, accepted: 'good', rejected: 'bad' } as const

/** Shows what the work of an operation has changed, in all generations, with the evidence. Decisions are made in the review. */
export function OperationChanges({ operation }: { operation: OperationView }) {
  const { connection } = usePage()
  const { run_id: runId, operation_id: id, outcome } = operation
  const path = `/v1/runs/${runId}/changes`
  const key = `${id} ${outcome?.record_hash}`
  const { value, error, again } = useLoaded(key, (signal) =>
    connection.json<z.infer<typeof ChangePage>>(path, { query: { operation_id: id }, signal }),
  )
  if (error !== undefined) return <ProblemBox error={error} onRetry={again} />
  if (value === undefined || value.changes.length === 0) return null
  return (
    <section class="stack" aria-label="Changes">
      <div class="row">
        <h2>Changes</h2>
        <a href={linkTo({ page: 'run', runId, tab: 'review' })}>Review</a>
      </div>
      {value.changes.map((change) => (
        <Change key={change.change_set_id} change={change} />
      ))}
    </section>
  )
}

function Change({ change }: { change: ChangeView }) {
  const { session } = usePage()
  const [isOpen, setOpen] = useState(false)
  const { verdict, decision, generation, is_redone: isRedone, rules } = change
  return (
    <article class={`change ${verdict}`}>
      <header class="change-head">
        <h3 class="change-name">
          Generation {generation}
          {rules.length > 0 && <span class="mono"> ({rules.join(', ')})</span>}
          {isRedone && <span class="quiet"> made again since, otherwise</span>}
        </h3>
        <span class="badge" data-state={states[verdict]}>
          {verdict}
        </span>
      </header>
      <div class="change-body">
        <div class="change-side">
          <DecisionLine decision={decision} me={session.token_id} />
          <EvidencePanel evidence={change.evidence} isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
        </div>
        <div class="change-diff">
          <DiffView diff={change.diff} isSplit={false} />
        </div>
      </div>
    </article>
  )
}
