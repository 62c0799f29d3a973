import type { OperationView } from '#schemas/operation-schema.ts'
import { adviceOnOperation } from '#domain/operation-advice.ts'
import { linkTo } from '../../core/route.ts'
import { At, type Fact, Facts, LoadState, PageHead, ProblemBox, StatusBadge } from '../parts/shown.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { usePage } from '../page-context.ts'
import { useHeard, useRun } from '../run/run-context.ts'
import { Conversations } from './conversation.tsx'
import { figure } from '#domain/figure.ts'
import { formatSeconds, plural } from '#domain/timeline/words.ts'
import { useState } from 'preact/hooks'
import type { z } from 'zod'
import type { ChangePage, ChangeView } from '#schemas/change-schema.ts'
import { DecisionLine } from '../review/decision-line.tsx'
import { DiffView } from '../review/diff-view.tsx'
import { EvidencePanel } from '../review/evidence-panel.tsx'

type OperationProps = { runId: string; operationId: string }

/** Shows one operation: first why it failed, if it did, then what it is about, what it changed, and its conversation. */
export function OperationPage({ runId, operationId }: OperationProps) {
  const { connection } = usePage()
  const { feed } = useRun()
  const path = `/v1/runs/${encodeURIComponent(runId)}/operations/${encodeURIComponent(operationId)}`
  const loaded = useLoaded(`${path} ${feed.era.value}`, (signal) => connection.json<OperationView>(path, { signal }))
  useHeard(({ operation_id: id, category }) => id === operationId && category !== 'worker_progress', loaded.again)
  const { value } = loaded
  const title = value === undefined ? 'Operation' : `${value.agent}: ${value.node.qualified_name}`
  return (
    <>
      <nav aria-label="Way back">
        <a href={linkTo({ page: 'run', runId, tab: 'operations' })}>Run {runId}</a>
      </nav>
      <PageHead title={title}>{value && <StatusBadge status={value.status} />}</PageHead>
      <LoadState {...loaded} />
      {value !== undefined && (
        <>
          <Reason operation={value} />
          <OperationFacts operation={value} />
          <OperationChanges operation={value} />
          <Conversations operation={value} />
        </>
      )}
    </>
  )
}

/** Says why an operation did not end well, and what can be done; or what it waits for. */
function Reason({ operation }: { operation: OperationView }) {
  const { outcome, status, waits_for: waitsFor, run_id: runId } = operation
  if (waitsFor !== null && status === 'waiting')
    return (
      <p class="notice">
        It waits for an answer. <a href={linkTo({ page: 'run', runId, tab: 'questions' })}>Question {waitsFor}</a>
      </p>
    )
  if (outcome === null || (status !== 'failed' && status !== 'blocked' && outcome.reason === undefined)) return null
  const { error_code: code, reason = outcome.summary, phase } = outcome
  return (
    <div class="problem" role="alert">
      <p>
        {code !== undefined && <b>{code} </b>}
        {reason}
        {phase !== undefined && <span class="small"> (in {phase})</span>}
      </p>
      {code !== undefined && <p class="advice">→ {adviceOnOperation(code).text}</p>}
    </div>
  )
}

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
