import type { OperationView } from '#schemas/operation-schema.ts'
import { adviceOnOperation } from '#domain/operation-advice.ts'
import { linkTo } from '../../core/route.ts'
import { PageHead } from '../parts/page-head.tsx'
import { LoadState } from '../parts/problem-box.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { usePage } from '../page-context.ts'
import { useHeard, useRun } from '../run/run-context.ts'
import { OperationChanges } from './operation-changes.tsx'
import { OperationFacts } from './operation-facts.tsx'
import { Conversations } from './conversations.tsx'

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
