import type { SkippedFile } from '#domain/code-node.ts'
import { evidenceChecks } from '#domain/change-set.ts'
import type { Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import { type Composition, conflictView } from '#objects/composition.ts'
import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { isoTime } from '../http/schema-parts.ts'
import type { FailureView, RunLinks, RunSummary, RunView } from './run-schema.ts'

const maxSkipped = 100
const maxLeftOut = 100

export function runSummaryView(run: Run): RunSummary {
  return {
    run_id: run.runId,
    project_id: run.projectId,
    status: run.status,
    phase: run.phase,
    request: requestView(run),
    counts: run.counts,
    open_questions: run.counts.waiting,
    nodes: run.nodes,
    files: run.files,
    seq: run.seq,
    cancel_requested: run.stop !== null,
    accepted_at: isoTime(run.acceptedAt),
    ended_at: isoTime(run.endedAt),
    duration_ms: run.endedAt === null ? null : run.endedAt - run.acceptedAt,
    error_code: run.errorCode,
    reason: run.reason,
    links: runLinks(run.runId),
  }
}

export type RunDetails = {
  /** Null until the run's change sets are composed. */
  composition: Composition | null
  /** All that was passed over of its archive. */
  skipped: readonly SkippedFile[]
  /** The first failed and blocked operations. */
  failed: readonly Operation[]
}

export function runView(run: Run, { composition, skipped, failed }: RunDetails): RunView {
  return {
    ...runSummaryView(run),
    checks: composition === null ? {} : checksView(composition),
    conflicts: composition?.conflicts.length ?? 0,
    left_out: (composition?.conflicts ?? []).slice(0, maxLeftOut).map(conflictView),
    skipped: skipped.length,
    skipped_files: skipped.slice(0, maxSkipped),
    failures: failed.map(failureView),
  }
}

export function runLinks(runId: string): RunLinks {
  const self = `/v1/runs/${runId}`
  return {
    self,
    events: `${self}/events`,
    nodes: `${self}/nodes`,
    operations: `${self}/operations`,
    changes: `${self}/changes`,
    patch: `${self}/patch`,
    questions: `${self}/questions`,
  }
}

/**
 * Per check, how many of the composed files it was made on and how many passed. A file that had syntax errors passes
 * `parses` when it has no more of them: `with_errors` counts those. What a check could not be made on is no part of it.
 */
function checksView(composition: Composition): RunView['checks'] {
  const evidence = composition.files.flatMap((file) => file.evidence)
  const made = evidenceChecks.map((check) => {
    const results = evidence.filter((entry) => entry.check === check)
    const passed = results.filter((entry) => entry.ok)
    const withErrors = check === 'parses' ? passed.filter(({ after = 0 }) => after > 0).length : 0
    const notChecked = evidence.filter((entry) => entry.check === 'not_checked' && entry.of === check).length
    const counts = {
      ok: passed.length,
      total: results.length,
      ...(withErrors === 0 ? {} : { with_errors: withErrors }),
      ...(notChecked === 0 ? {} : { not_checked: notChecked }),
    }
    return [check, counts] as const
  })
  return Object.fromEntries(made.filter(([, { total, not_checked: notChecked = 0 }]) => total + notChecked > 0))
}

function failureView(operation: Operation): FailureView {
  return {
    operation_id: operation.operationId,
    agent: operation.bundle,
    path: operation.node.path,
    qualified_name: operation.node.qualifiedName,
    status: operation.status,
    error_code: operation.outcome?.errorCode ?? null,
    reason: operation.outcome?.reason ?? operation.outcome?.summary ?? null,
  }
}

function requestView({ request }: Run): RunSummary['request'] {
  return {
    agents: request.agents,
    paths: request.paths,
    languages: request.languages,
    exclude: request.exclude,
    node_kinds: request.nodeKinds,
    include: request.include,
    selected_nodes: request.nodes?.count,
    error_policy: request.errorPolicy,
    limits: request.limits,
    priority: request.priority,
    labels: request.labels,
    retry_of: request.retryOf,
    operations: request.operations,
  }
}

/** The run, when it is `projectId`'s. Another project's run is as unknown as one that never was: RUN_001. */
export async function findRun(runId: RunId, projectId: string, ledger: Pick<Ledger, 'getRun'>): Promise<Run> {
  const run = await ledger.getRun(runId)
  if (run.projectId !== projectId) throw new AppError('RUN_001', `There is no run "${runId}".`)
  return run
}
