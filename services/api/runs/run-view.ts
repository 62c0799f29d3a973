import type { SkippedFile } from '#domain/code-node.ts'
import { evidenceChecks } from '#domain/change-set.ts'
import type { Operation } from '#domain/operation.ts'
import type { Run, RunRequest } from '#domain/run.ts'
import { type Composition, conflictView } from '#objects/composition.ts'
import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { isoTime, viewOf } from '../http/schema-parts.ts'
import { FailureView, RequestView, type RunLinks, RunSummary, type RunView } from './run-schema.ts'

const maxSkipped = 100
const maxLeftOut = 100

export function runSummaryView(run: Run): RunSummary {
  const { runId, counts, stop, acceptedAt, endedAt } = run
  return viewOf(RunSummary, run, {
    request: requestView(run.request),
    open_questions: counts.waiting,
    cancel_requested: stop !== null,
    accepted_at: isoTime(acceptedAt),
    ended_at: isoTime(endedAt),
    duration_ms: endedAt === null ? null : endedAt - acceptedAt,
    links: runLinks(runId),
  })
}

export type RunDetails = {
  /** Null until the run's change sets are composed. */
  composition: Composition | null
  /** All files of its archive that were skipped. */
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
 * For each check, on how many of the composed files it was made and how many passed. A file that had syntax errors before
 * passes `parses` when it has no more than those: `with_errors` counts such files. Files on which a check could not be made
 * are counted separately.
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
  const { bundle, node, outcome } = operation
  return viewOf(FailureView, operation, {
    agent: bundle,
    path: node.path,
    qualified_name: node.qualifiedName,
    error_code: outcome?.errorCode ?? null,
    reason: outcome?.reason ?? outcome?.summary ?? null,
  })
}

function requestView(request: RunRequest): RunSummary['request'] {
  return viewOf(RequestView, request, { selected_nodes: request.nodes?.count })
}

/** The run, if it belongs to `projectId`. RUN_001 for a run of another project, as for one that does not exist. */
export async function findRun(runId: RunId, projectId: string, ledger: Pick<Ledger, 'getRun'>): Promise<Run> {
  const run = await ledger.getRun(runId)
  if (run.projectId !== projectId) throw new AppError('RUN_001', `There is no run "${runId}".`)
  return run
}
