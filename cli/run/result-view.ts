import { rehearsalLabel } from '#domain/rehearsal-label.ts'
import { operationsOf, type AgentProgress } from '../progress/progress-state.ts'
import type { ReportParts } from '../progress/result-report.ts'

/**
 * The last line of `remora run --json`. `patch` is null when the run proposes no change, did not complete, or is watched;
 * `earlierRuns` are those the stack went on with beside this one.
 */
export function resultView({ state, run, patch, conflicts }: ReportParts, earlierRuns: readonly string[] = []) {
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
      agents: Object.fromEntries(Object.entries(state.agents).map(([name, agent]) => [name, agentView(agent)])),
      checks: run.checks,
      failures: run.failures,
      conflicts: conflicts.map(({ changeSetId, code, reason }) => ({
        change_set_id: changeSetId,
        error_code: code,
        reason,
      })),
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
  const { succeeded, unchanged, skipped, cancelled, failed, tokens, workMs } = agent
  return { operations: operationsOf(agent), succeeded, unchanged, skipped, cancelled, failed, tokens, work_ms: workMs }
}
