import type { NewEvent } from '#domain/event.ts'
import { traceIdOf } from '#domain/traceparent.ts'
import type { OperationCost, Outcome } from '#domain/operation.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Metrics } from '#platform/metrics/open-metrics.ts'
import type { Log, LogFields } from '#platform/log.ts'

type Counted = Pick<Metrics, 'count' | 'observe'>
type AttemptLedger = Pick<Ledger, 'append' | 'release' | 'settle' | 'suspend'>

/** Counts commands once they have taken effect, and logs each attempt that ended here. */
export function reportedAttempts<Given extends AttemptLedger>(
  ledger: Given,
  { metrics, log }: { metrics: Counted; log: Pick<Log, 'info' | 'warn'> },
): Given {
  const ended = (attempt: Attempt, end: string, fields: LogFields) => {
    metrics.count('remora_attempts_total', { agent: attempt.bundle, end })
    const { runId: run_id, operationId: operation_id, projectId: project_id, attempt: number, bundle: agent } = attempt
    const trace_id = traceIdOf(attempt.traceparent)
    const note = fields['status'] === 'failed' || fields['status'] === 'blocked' ? log.warn : log.info
    note('attempt ended', { run_id, project_id, trace_id, operation_id, attempt: number, agent, end, ...fields })
  }
  const counted = async <T extends { kind: string }>(
    events: readonly NewEvent[],
    command: () => Promise<T>,
    note = () => {},
  ) => {
    const start = performance.now()
    const answer = await command()
    if (answer.kind === 'lost') return answer
    measureEvents(events, start, metrics)
    note()
    return answer
  }
  const measured: AttemptLedger = {
    append: (attempt, n, told) => counted(told.events, () => ledger.append(attempt, n, told)),
    settle(attempt, n, settlement) {
      const { events, outcome } = settlement
      const note = () => {
        measureOutcome(attempt.bundle, outcome, metrics)
        ended(attempt, 'settled', settled(outcome))
      }
      return counted(events, () => ledger.settle(attempt, n, settlement), note)
    },
    release(attempt, n, how) {
      const fields = { reason: how.reason, ...(how.resume && costFields(how.resume.spent)) }
      const note = () => ended(attempt, 'handed_back', fields)
      return counted(how.events, () => ledger.release(attempt, n, how), note)
    },
    suspend(attempt, n, how) {
      const note = () => ended(attempt, 'suspended', costFields(how.spent))
      return counted(how.events, () => ledger.suspend(attempt, n, how), note)
    },
  }
  return { ...ledger, ...measured }
}

function measureOutcome(agent: string, outcome: Outcome, metrics: Counted): void {
  const { status, errorCode = '', promptTokens, completionTokens, durationMs } = outcome
  metrics.count('remora_operations_total', { agent, status, error_code: errorCode })
  metrics.observe('remora_operation_seconds', { agent, status }, durationMs / 1000)
  metrics.count('remora_agent_tokens_total', { agent, kind: 'prompt' }, promptTokens)
  metrics.count('remora_agent_tokens_total', { agent, kind: 'completion' }, completionTokens)
}

function settled(outcome: Outcome): LogFields {
  const { status, errorCode } = outcome
  return { status, ...(errorCode && { error_code: errorCode }), ...costFields(outcome) }
}

function costFields({ turns, promptTokens, completionTokens, durationMs }: OperationCost): LogFields {
  const tokens = { prompt_tokens: promptTokens, completion_tokens: completionTokens }
  return { turns, ...tokens, duration_ms: Math.round(durationMs) }
}

function measureEvents(events: readonly NewEvent[], start: number, metrics: Counted): void {
  const [oldest] = events
  if (oldest === undefined) return
  const lagMs = (oldest.ageMs ?? 0) + performance.now() - start
  metrics.observe('remora_event_lag_seconds', {}, lagMs / 1000)
  for (const { event, toolName = '', durationMs = 0, status = 'ok', errorCode } of events) {
    if (event !== 'tool.returned') continue
    // A name that the model made up would be a series of its own for ever.
    const tool = errorCode === 'TOOL_001' ? 'unknown' : toolName
    metrics.observe('remora_tool_seconds', { tool, outcome: status }, durationMs / 1000)
  }
}
