import type { GateReport, GateRequest } from '#domain/gate.ts'
import type { Run } from '#domain/run.ts'
import type { RunEnvironment } from '#domain/setup.ts'
import type { GateShape, GateView } from '#schemas/gate-schema.ts'
import { FaultView, type PublicationView, PullView } from '#schemas/publication-schema.ts'
import type { EnvironmentView } from '#schemas/setup-schema.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'

// The parts of a run that other services have made, as callers see them: where its code is from, its setup, its gate, what was published.

export function repositoryView({ request, commit }: Pick<Run, 'request' | 'commit'>) {
  if (request.repository === undefined) return null
  const { host, repository, ref, branch, pullRequest } = request.repository
  return {
    host,
    owner: repository.owner,
    name: repository.name,
    ref,
    commit: commit ?? request.repository.commit ?? null,
    ...(branch !== undefined && { branch }),
    ...(pullRequest !== undefined && { pull_request: pullRequest }),
  }
}

export function publicationView(publication: Run['publication']): PublicationView | null {
  if (publication === null) return null
  const { check, pulls, fault } = publication
  return {
    ...(check !== null && { check_run: { id: check.id, status: check.status } }),
    pulls: pulls.map((pull) => viewOf(PullView, pull, {})),
    ...(fault !== null && { fault: viewOf(FaultView, fault, { at: isoTime(fault.at) }) }),
  }
}

export function environmentView(environment: RunEnvironment | null): EnvironmentView | null {
  if (environment === null) return null
  const { command } = environment
  switch (environment.kind) {
    case 'wanted':
      return { status: 'wanted', command }
    case 'ready': {
      const { isCached: cached, bytes, durationMs: duration_ms } = environment
      return { status: 'ready', command, cached, bytes, duration_ms }
    }
    case 'failed': {
      const { reason, output, durationMs: duration_ms } = environment
      return { status: 'failed', command, reason, output, duration_ms }
    }
  }
}

/** A gate as callers see it. */
export function gateRequestView(verify: GateRequest | undefined): GateShape | undefined {
  return verify && { command: verify.command, runs: verify.runs, max_runs: verify.maxRuns, limit_s: verify.limitS }
}

export function gateView(gate: GateReport | undefined): GateView | null {
  if (gate === undefined) return null
  const { failingTotal, durationMs, leftOut, outputs, ...same } = gate
  const views = outputs.map(({ changeSets, ...output }) => ({ change_sets: changeSets, ...output }))
  return { ...same, outputs: views, failing_total: failingTotal, duration_ms: durationMs, left_out: leftOut }
}
