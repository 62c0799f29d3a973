import { describeModelKind, modelKindOf } from '#domain/model-kind.ts'
import type { OperationView, RunView } from '../api-views.ts'
import { formatSeconds } from '../format-seconds.ts'
import { hasEnded } from '../has-ended.ts'
import { nodePlace } from '../node-place.ts'
import { clip } from '../progress/paint.ts'
import { describeSkipped } from './describe-skipped.ts'
import { resumeCommand } from './model-flag.ts'

/**
 * `modelUrls`: of the environment. `isWaiting`: no stack works on the run, if it has not ended. `width`: lines of
 * operations are cut to it.
 */
export type RunManner = { isWaiting: boolean; width: number; modelUrls?: string | undefined }

const usualPriority = 5
const usualPolicy = 'skip_downstream'

/** A run for a person: how it stands, what it was asked beside the usual, then a line for each of `operations`. */
export function describeRun(run: RunView, operations: readonly OperationView[], manner: RunManner): string {
  const { request, error_code: code } = run
  const counts = Object.entries(run.counts).filter(([, count]) => count > 0)
  const kind = modelKindOf(request.labels)
  const rows: [string, string][] = [
    ['run', run.run_id],
    ['status', manner.isWaiting && !hasEnded(run.status) ? waitingStatus(run, manner) : statusOf(run)],
    ['reason', code ? '' : (run.reason ?? '')],
    ['retry of', request.retry_of ?? ''],
    ['agents', request.agents.join(', ')],
    ['included', (request.include ?? []).join(', ')],
    ['model', kind === undefined ? '' : describeModelKind(kind)],
    ['priority', (request.priority ?? usualPriority) === usualPriority ? '' : String(request.priority)],
    ['policy', request.error_policy === usualPolicy ? '' : (request.error_policy ?? '')],
    ['accepted', run.accepted_at ?? ''],
    ['took', tookOf(run)],
    ['skipped', run.skipped === 0 ? '' : clip(describeSkipped(run.skipped_files, run.skipped), manner.width)],
    ['operations', counts.map(([status, count]) => `${count} ${status}`).join(', ')],
    ['checks', checksOf(run)],
    ['conflicts', String(run.conflicts)],
  ]
  const lines = rows.flatMap(([name, value]) => (value === '' ? [] : [`${name.padEnd(11)} ${value}`]))
  return `${[...lines, ...operationLines(run, operations, manner)].join('\n')}\n`
}

function tookOf({ status, duration_ms: ms }: RunView): string {
  if (!hasEnded(status)) return 'not ended'
  return typeof ms === 'number' ? formatSeconds(ms) : ''
}

function checksOf({ checks }: RunView): string {
  const figures = Object.entries(checks).map(([check, { ok, total, with_errors: errors }]) =>
    errors === undefined ? `${check} ${ok}/${total}` : `${check} ${ok}/${total} (${errors} with errors as before)`,
  )
  return figures.join(', ')
}

function statusOf({ status, phase, error_code: code, reason }: RunView): string {
  return `${status}${hasEnded(status) ? '' : ` (${phase})`}${code ? `: ${code} ${reason ?? ''}` : ''}`
}

function waitingStatus(run: RunView, { modelUrls }: RunManner): string {
  return `nothing works on it now, it is in ${run.phase}: "${resumeCommand(run, modelUrls)}" continues it, "remora up" all runs`
}

function operationLines(run: RunView, operations: readonly OperationView[], { width }: RunManner): string[] {
  if (operations.length === 0) return []
  const total = Object.values(run.counts).reduce((sum, count) => sum + count, 0)
  const more = total > operations.length ? [`… and ${total - operations.length} more: --operations lists all`] : []
  const agentWidth = Math.max(...operations.map(({ agent }) => agent.length))
  return ['', ...operations.map((operation) => clip(operationLine(operation, agentWidth), width)), ...more]
}

function operationLine({ operation_id: id, status, agent, node, outcome }: OperationView, agentWidth: number): string {
  const why = outcome?.error_code === undefined ? outcome?.summary : `${outcome.error_code} ${outcome.reason ?? ''}`
  return `${id}  ${status.padEnd(10)}  ${agent.padEnd(agentWidth)}  ${nodePlace(node.path, node.qualified_name)}  ${why ?? ''}`
}
