import { type AgentFunnel, countFunnel, countMerged } from '#change-sets/funnel.ts'
import type { Decisions, VerdictCounts } from '#store/ledger/decisions.ts'
import type { SkippedFile } from '#domain/code-node.ts'
import { checkOf, type Evidence } from '#domain/change-set.ts'
import { evidenceChecks } from '#domain/checks.ts'
import { begunAt, isEnded, type Run } from '#domain/run.ts'
import type { ServerHealth, UnreachableModel } from '#domain/model-health.ts'
import { type Composition, conflictView } from '#store/objects/composition.ts'
import { AppError } from '#domain/error.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { PartState } from '#platform/readiness.ts'
import type { RunId } from '#domain/ids.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { LiveState } from '#store/ledger/live-state.ts'
import { snakeKeys } from '#domain/wire-keys.ts'
import type { FailureCount } from '#store/ledger/read-operations.ts'
import type { PlanSummary } from '#store/objects/plan-summary.ts'
import { AgentPlanView, PlannedFolder, PlanView } from '#schemas/plan-schema.ts'
import {
  ComposingView,
  FailureView,
  RequestView,
  type RunLinks,
  RunSummary,
  type RunView,
} from '#schemas/run-schema.ts'
import type { WaitingFor } from '#schemas/waiting-schema.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import { liveView } from './live-view.ts'
import { environmentView, gateView, publicationView, repositoryView } from './part-views.ts'

const maxSkipped = 100
const maxLeftOut = 100

/** Says what keeps runs from moving: `away` has the models that no live worker can use, `store` the object store, if it was asked. */
export type Lacking = { away: readonly UnreachableModel[]; store?: PartState | undefined }

export function runSummaryView(run: Run, lacking: Lacking): RunSummary {
  const { runId, counts, stop, acceptedAt, endedAt } = run
  return viewOf(RunSummary, run, {
    request: viewOf(RequestView, run.request, {
      error_policy: run.errorPolicy,
      selected_nodes: run.request.nodes?.count,
      accept: run.request.accept ?? 'none',
      verify: run.request.verify && snakeKeys(run.request.verify),
    }),
    repository: repositoryView(run),
    publication: publicationView(run.publication),
    open_questions: counts.waiting - run.deferred + run.ownQuestions,
    waiting_for: waitingFor(run, lacking),
    budget: budgetView(run),
    composing: run.composing && viewOf(ComposingView, run.composing, {}),
    environment: environmentView(run.environment),
    cancel_requested: stop !== null,
    accepted_at: isoTime(acceptedAt),
    ended_at: isoTime(endedAt),
    duration_ms: endedAt === null ? null : endedAt - begunAt(run),
    links: runLinks(runId),
  })
}

/** The ledger knows which models are away; what their servers say only live workers do. */
export function waitingFor(run: Run, { away, store }: Lacking): WaitingFor[] {
  if (isEnded(run.status) || run.stop !== null) return []
  const waits = run.conductor?.kind === 'open' ? run.conductor.waits : null
  const deciding = waits?.kind === 'models' && run.away.every(({ model }) => model !== waits.model) ? [waits] : []
  const models = [...run.away, ...deciding].map(({ model, since }) => {
    const servers = away.find((unreachable) => unreachable.model === model)?.servers ?? []
    return { kind: 'models' as const, model, since: isoTime(since), servers: servers.map(serverView) }
  })
  const questions = run.counts.waiting - run.deferred
  const holding = run.usedBudgets.filter(({ holds }) => holds)
  const budgets = holding.map(({ of, limit, used, needs, since, resetsAt }) => ({
    kind: 'budget' as const,
    of,
    // What goes on after the budget was used up counts, too.
    ...(of === 'run' ? { limit: run.budget ?? limit, used: run.tokens } : { limit, used }),
    needs,
    since: isoTime(since),
    resets_at: isoTime(resetsAt),
  }))
  const answers = questions === 0 ? [] : [{ kind: 'answer' as const, questions }]
  const approval = waits?.kind === 'approval' ? [{ kind: waits.kind, since: isoTime(waits.since) }] : []
  const tools = run.deferred === 0 ? [] : [{ kind: 'tool' as const, operations: run.deferred }]
  return [...models, ...answers, ...tools, ...approval, ...budgets, ...storeWait(store)]
}

export function budgetView({
  budget,
  tokens,
  tokensBesides,
}: Pick<Run, 'budget' | 'tokens' | 'tokensBesides'>): RunSummary['budget'] {
  return { tokens: budget, used: tokens, used_by_agents: tokens - tokensBesides }
}

function storeWait(store: Lacking['store']): WaitingFor[] {
  if (store?.state !== 'away' && store?.state !== 'full') return []
  return [{ kind: 'store', store: 'object_store', state: store.state, message: store.message }]
}

function serverView({ url, hasAnswered, lastError, nextProbeAt }: ServerHealth) {
  return { url, has_answered: hasAnswered, last_error: lastError, next_probe: isoTime(nextProbeAt) }
}

export type RunDetails = Lacking & {
  live: LiveState
  /** Null until the run's change sets are composed; undefined while it cannot be read. */
  composition: Composition | null | undefined
  /** All files of its archive that were skipped; undefined while they cannot be read. */
  skipped: readonly SkippedFile[] | undefined
  /** Failed and blocked operations by error code. */
  failures: readonly FailureCount[]
  /** While it is not composed, what is decided, by agent; once it is, by change set. */
  verdicts: ReadonlyMap<string, VerdictCounts>
  decisions: Pick<Decisions, 'byChangeSet'>
  /** Counts the rejected operations that are tried again by themselves when the run has ended. */
  retryWanted: number
  /** Is what a run with an objective came to; of others there is none. */
  answer?: RunView['answer'] | undefined
  /** Counts the accepted change sets that the accepted patch leaves out; undefined while that cannot be read. */
  acceptedLeftOut?: number | undefined
}

// Counted once for each composition and each state of the decisions, which callers keep: a large run is asked for as often as a small one.
const knownChecks = new WeakMap<Composition, RunView['checks']>()
type Funnels = WeakMap<Decisions['byChangeSet'], AgentFunnel[]>
const knownFunnels = new WeakMap<NonNullable<Composition['made']>, Funnels>()
const newWeakMap = (): Funnels => new WeakMap()

export function runView(run: Run, details: RunDetails): RunView {
  const { live, composition, skipped, failures, retryWanted, answer = null, acceptedLeftOut = 0 } = details
  const { conflicts = [] } = composition ?? {}
  const summary = runSummaryView(run, details)
  return {
    ...summary,
    ...liveView(run, live, summary.waiting_for, Date.now()),
    checks: composition ? getOrMake(knownChecks, composition, () => checksView(composition)) : {},
    gate: gateView(composition?.gate),
    answer,
    conflicts: conflicts.length,
    funnel: funnelView(run, composition?.made, details),
    left_out: conflicts.slice(0, maxLeftOut).map(conflictView),
    accepted_left_out: acceptedLeftOut,
    unread: [
      ...(composition === undefined ? ['composition' as const] : []),
      ...(skipped === undefined ? ['skipped_files' as const] : []),
    ],
    skipped: skipped?.length ?? 0,
    skipped_files: skipped?.slice(0, maxSkipped) ?? [],
    failures: failures.map(failureView),
    retry_wanted: retryWanted,
  }
}

function funnelView(
  run: Run,
  made: Composition['made'],
  { verdicts, decisions }: Pick<RunDetails, 'verdicts' | 'decisions'>,
): RunView['funnel'] {
  if (made !== undefined) {
    const { byChangeSet } = decisions
    const known = getOrMake(getOrMake(knownFunnels, made, newWeakMap), byChangeSet, () =>
      countFunnel(made, (id) => byChangeSet.get(id)?.verdict ?? 'pending'),
    )
    const merged = countMerged(made, run)
    return known.map((counts) => ({ ...snakeKeys(counts), merged: merged.get(counts.agent) ?? 0 }))
  }
  const unknown = { generated: null, valid: null, verified: null, accepted_unverified: 0, merged: 0 }
  return [...verdicts]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([agent, counts]) => (counts.accepted + counts.rejected === 0 ? [] : [{ agent, ...unknown, ...counts }]))
}

export function runLinks(runId: string): RunLinks {
  const self = `/v1/runs/${runId}`
  return {
    self,
    events: `${self}/events`,
    timeline: `${self}/timeline`,
    agenda: `${self}/agenda`,
    nodes: `${self}/nodes`,
    operations: `${self}/operations`,
    changes: `${self}/changes`,
    findings: `${self}/findings`,
    decisions: `${self}/decisions`,
    patch: `${self}/patch`,
    archive: `${self}/archive`,
    questions: `${self}/questions`,
  }
}

/**
 * Counts on how many composed files each check was made, and passed. `with_errors`: those that pass `parses` with no more errors than before.
 * `in_part`: those of which only some sets were asked for it. What could not be checked, or does not apply, is counted apart.
 */
function checksView({ files }: Composition): RunView['checks'] {
  const evidence = files.flatMap((file) => file.evidence)
  const made = evidenceChecks.map((check) => {
    const results = evidence.filter((entry) => entry.check === check)
    const passed = results.filter((entry) => entry.ok)
    const withErrors = check === 'parses' ? passed.filter(({ after = 0 }) => after > 0).length : 0
    const inPart = passed.filter((entry) => entry.inPart).length
    const count = (state: Evidence['check']) =>
      evidence.filter((entry) => entry.check === state && entry.of === check).length
    const [notChecked, notApplicable] = [count('not_checked'), count('not_applicable')]
    const counts = {
      ok: passed.length,
      total: results.length,
      ...(withErrors > 0 && { with_errors: withErrors }),
      ...(inPart > 0 && { in_part: inPart }),
      ...(notChecked > 0 && { not_checked: notChecked }),
      ...(notApplicable > 0 && { not_applicable: notApplicable }),
      ...(check === 'tests_kill_mutants' && results.length > 0 && plantedFaults(results)),
    }
    return [check, counts] as const
  })
  return Object.fromEntries(made.filter(([check]) => evidence.some((entry) => checkOf(entry) === check)))
}

function plantedFaults(results: readonly { before?: number | undefined; after?: number | undefined }[]) {
  return {
    planted: results.reduce((sum, { before = 0 }) => sum + before, 0),
    noticed: results.reduce((sum, { after = 0 }) => sum + after, 0),
  }
}

function failureView({ errorCode, count, first }: FailureCount): FailureView {
  const { bundle, node, outcome } = first
  return viewOf(FailureView, first, {
    error_code: errorCode,
    count,
    agent: bundle,
    path: node.path,
    qualified_name: node.qualifiedName,
    reason: outcome?.reason ?? outcome?.summary ?? null,
  })
}

/** RUN_001 for a run of another project, as for one that does not exist. */
export async function findRun(runId: RunId, projectId: string, ledger: Pick<Ledger, 'getRun'>): Promise<Run> {
  const run = await ledger.getRun(runId)
  if (run.projectId !== projectId) throw new AppError('RUN_001', `There is no run "${runId}".`)
  return run
}

export function planView(plan: PlanSummary): PlanView {
  const agents = Object.entries(plan.agents).map(([name, agent]) => {
    const folders = agent.folders.map((folder) => viewOf(PlannedFolder, folder, {}))
    return [name, viewOf(AgentPlanView, agent, { folders })] as const
  })
  return viewOf(PlanView, plan, { agents: Object.fromEntries(agents) })
}
