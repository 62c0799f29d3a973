import { AppError } from '#domain/error.ts'
import { rehearsalLabel } from '#domain/model-kind.ts'
import type { RunAgenda } from '#schemas/agenda-schema.ts'
import type { PlanView } from '#schemas/plan-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { ApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import { adviceOnOperation } from '#domain/operation-advice.ts'
import {
  type AgentProgress,
  failedOperations,
  isComposed,
  operationsOf,
  type ProgressState,
} from '../progress/progress-state.ts'
import { blockedItems } from '../progress/blocked-items.ts'
import { renderReport, type ReportParts, type ReportView } from '../progress/result-report.ts'
import { openPaint } from '../terminal-text.ts'

type Reporting = { client: Pick<ApiClient, 'readAgenda' | 'readPlan'>; json: boolean; context: CliContext }

/** Reports how a run went that was followed to its end, as text or as the result line of `--json`, and sets the exit code. */
export async function reportRun(
  followed: Omit<ReportParts, 'plan' | 'agenda'>,
  { client, json, context }: Reporting,
): Promise<void> {
  const { io } = context
  const { run_id: runId, request } = followed.run
  const reading = followed.state.isPlanned ? client.readPlan(runId) : undefined
  const planning = request.objective === undefined ? undefined : client.readAgenda(runId).catch(withoutPlan)
  const parts = { ...followed, plan: await reading?.catch(withoutPlan), agenda: await planning }
  io.out(json ? `${JSON.stringify(resultView(parts))}\n` : `\n${renderReport(parts, reportView(context))}`)
  io.exit(exitCodeOf(parts.run, parts.state, parts.agenda))
}

/** The report of a run that has ended is not lost where its plan cannot be read. */
function withoutPlan(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
}

export function reportView({ colored, columns = Infinity }: Pick<CliContext, 'colored' | 'columns'>): ReportView {
  return { paint: openPaint(colored), width: columns }
}

/** A run fails with these when the service does not know a language or a kind of nodes that was asked for. */
const unknownFilters: ReadonlySet<string> = new Set(['DISC_003', 'RUN_002'])

/**
 * 0: done, also when there was nothing to do. 1: the run did not complete, or every operation failed. 2: wrong usage that
 * only the service could detect. 3: an operation failed or was blocked, an item of the plan was blocked and none took its place, a change set was
 * left out of the patch, or the run's gate could not judge; also a retry all of whose operations failed, if the patch holds changes that were made before it.
 */
export function exitCodeOf(
  { status, conflicts, error_code: code, gate }: Pick<RunView, 'status' | 'conflicts' | 'error_code' | 'gate'>,
  state: ProgressState,
  agenda?: Pick<RunAgenda, 'items'>,
): 0 | 1 | 2 | 3 {
  if (status === 'blocked' || !isComposed(status, state)) return unknownFilters.has(code ?? '') ? 2 : 1
  // The events say it too, when the service cannot read the composition just now.
  const hasConflicts = conflicts > 0 || Object.values(state.agents).some(({ leftOut }) => leftOut > 0)
  const isProved = gate?.verdict !== 'unproved'
  if (failedOperations(state) === 0) return hasConflicts || !isProved || lacksItems(agenda) ? 3 : 0
  const wentWell = Object.values(state.agents).some(({ succeeded, unchanged }) => succeeded + unchanged > 0)
  return wentWell || state.patchFiles > 0 ? 3 : 1
}

/** Whether an item of the plan was blocked and none took its place. */
export function lacksItems(agenda: Pick<RunAgenda, 'items'> | undefined): boolean {
  return blockedItems(agenda).some(({ replaced_by: other }) => other === null)
}

/** Is the last line of `remora run --json`. `patch` is null when the run proposes no change, did not complete, or is watched. */
export function resultView({ state, run, plan, agenda, patch, earlierRuns = [] }: ReportParts) {
  const planned = plannedView(plan)
  return {
    result: {
      run_id: run.run_id,
      status: run.status,
      error_code: run.error_code,
      reason: run.reason,
      duration_ms: run.duration_ms,
      generation: run.generation,
      answer: run.answer,
      retry_wanted: run.retry_wanted,
      models: state.models,
      rehearsal: state.models.includes(rehearsalLabel),
      looked_at: plan === undefined ? null : Object.values(planned).reduce((sum, agent) => sum + agent.looked_at, 0),
      nodes_looked_at: plan?.nodes_looked_at ?? null,
      beyond_limit: plan?.beyond_limit ?? 0,
      planned,
      agents: Object.fromEntries(Object.entries(state.agents).map(([name, agent]) => [name, agentView(agent)])),
      tokens: run.budget.used,
      blocked_items: blockedItems(agenda),
      checks: run.checks,
      gate: run.gate,
      failures: run.failures.map((failure) => ({
        ...failure,
        advice: failure.error_code === null ? null : adviceOnOperation(failure.error_code).text,
      })),
      conflicts: run.left_out,
      conflict_count: run.conflicts,
      unread: run.unread,
      skipped_files: state.skippedFiles,
      earlier_runs: earlierRuns,
      patch: patchView(patch),
    },
  }
}

function patchView(patch: ReportParts['patch']) {
  if (patch === undefined || 'printedBy' in patch) return null
  return { path: patch.path, applied: patch.applied, apply_with: patch.hint }
}

function agentView(agent: AgentProgress) {
  const { succeeded, unchanged, skipped, cancelled, failed, leftOut, findings, requests, tokens, workMs } = agent
  const ends = { succeeded, unchanged, skipped, cancelled, failed, left_out: leftOut, findings }
  return { operations: operationsOf(agent), ...ends, requests, tokens, work_ms: workMs }
}

function plannedView({ agents }: Pick<PlanView, 'agents'> = { agents: {} }) {
  const views = Object.entries(agents).map(([name, { looked_at, planned, mechanical, skipped }]) => {
    const reasons = skipped.map(({ reason, count }) => ({ reason, count }))
    return [name, { looked_at, planned, mechanical, skipped: reasons }] as const
  })
  return Object.fromEntries(views)
}
