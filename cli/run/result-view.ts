import { rehearsalLabel } from '#domain/rehearsal-label.ts'
import { operationsOf, type AgentProgress } from '../progress/progress-state.ts'
import { adviceOnFailure } from '../progress/failure-advice.ts'
import type { ReportParts } from '../progress/result-report.ts'

/**
 * The last line of `remora run --json`. `patch` is null when the run proposes no change, did not complete, or is watched;
 * `earlierRuns` are those the stack went on with beside this one.
 */
export function resultView({ state, run, patch }: ReportParts, earlierRuns: readonly string[] = []) {
  return {
    result: {
      run_id: run.run_id,
      status: run.status,
      error_code: run.error_code ?? null,
      reason: run.reason ?? null,
      duration_ms: run.duration_ms ?? null,
      retry_of: run.request.retry_of ?? null,
      earlier_change_sets: state.earlierChangeSets,
      models: state.models,
      rehearsal: state.models.includes(rehearsalLabel),
      looked_at: state.lookedAt ?? null,
      nodes_looked_at: state.nodesLookedAt ?? null,
      beyond_limit: state.beyondLimit,
      planned: plannedView(state),
      agents: Object.fromEntries(Object.entries(state.agents).map(([name, agent]) => [name, agentView(agent)])),
      checks: run.checks,
      failures: run.failures.map((failure) => ({
        ...failure,
        advice: failure.error_code === null ? null : adviceOnFailure(failure.error_code).text,
      })),
      conflicts: run.left_out,
      conflict_count: run.conflicts,
      skipped_files: state.passedOver,
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
  const { succeeded, unchanged, skipped, cancelled, failed, leftOut, tokens, workMs } = agent
  const ends = { succeeded, unchanged, skipped, cancelled, failed, left_out: leftOut }
  return { operations: operationsOf(agent), ...ends, tokens, work_ms: workMs }
}

function plannedView({ planned }: ReportParts['state']) {
  const views = Object.entries(planned).map(([name, { lookedAt, ...agent }]) => [
    name,
    { looked_at: lookedAt, ...agent },
  ])
  return Object.fromEntries(views)
}
