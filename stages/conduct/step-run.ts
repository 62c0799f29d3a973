import type { AgendaState } from '#domain/agenda.ts'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import { type AppError, asAppError, ModelUnavailable } from '#domain/error.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import { newToken, type ProjectId, type RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { Step } from '#store/ledger/conductor-steps.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import {
  type DecisionRecord,
  getDecisionRecord,
  type PlannerQuestion,
  putDecisionRecord,
} from '#store/objects/decision-record.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { openSpending, type Spending } from '#stages/operate/agent/typed-submission.ts'
import { isActive, waitsForApproval } from './agenda-rules.ts'
import { beginReady, fruitlessBefore } from './apply-decision.ts'
import { type AskDeps, askPlanner } from './ask-planner.ts'
import { type CiteDeps, citedIn } from './cited.ts'
import { blocked, ofConductor, outcomeOfDecision, type StepOutcome } from './commit-decision.ts'
import { decisionFaults, type PlannerDecision } from './decision-faults.ts'
import { drainInbox } from './drain-inbox.ts'
import { plannerView, type ViewDeps } from './planner-view.ts'
import { filesOfItems, staleIn } from './drain-inbox.ts'

export type StepDeps = AskDeps &
  ViewDeps &
  CiteDeps & {
    ledger: Pick<Ledger, 'claimStep' | 'reserve' | 'noteReply' | 'commitStep' | 'getRun'>
    objects: ObjectStore
    bundle(project: ProjectId, hash: string): Promise<AgentBundle>
    /** Names the model that decides, for who looks at a run that waits for it. */
    plannerName: string
    /** A run waits so long for that model before it ends as blocked. */
    awayLimitMs: number
    leaseMs: number
    origin: EventOrigin
    onDecision?(question: PlannerQuestion, result: string): void
    log: Pick<Log, 'info' | 'warn'>
  }

/** `idle`: nothing is to be decided before something happens. `waits`: the model that decides does not answer, or a budget has too little left. */
export type StepEnd = 'over' | 'busy' | 'lost' | 'idle' | 'waits'

/**
 * Moves a run on as far as its conductor can: hears its messages in their order, begins what is ready, and asks the model only when nothing is
 * ready, nothing is under way and nobody is waited for. Each step is one commit, so a process that dies loses none; a reply that was recorded
 * is used by whoever has the step next.
 */
export async function stepRun(runId: RunId, deps: StepDeps, signal: AbortSignal): Promise<StepEnd> {
  const claim = { token: newToken(), leaseMs: deps.leaseMs }
  for (;;) {
    signal.throwIfAborted()
    const claimed = await deps.ledger.claimStep(runId, claim)
    if (claimed.kind !== 'claimed') return claimed.kind
    const { step } = claimed
    const run = await deps.ledger.getRun(runId)
    const taken = await takeStep(run, step, deps, signal)
    if (taken === 'lost') return taken
    if (taken === 'idle' || taken === 'waits') {
      await deps.ledger.claimStep(runId, { ...claim, leaseMs: 0 }) // gives it up, for whoever has something to do next
      return taken
    }
    const { consumed, ...outcome } = taken
    const { token, version } = step
    const answer = await deps.ledger.commitStep(runId, { token, version, consumed, ...outcome })
    if (answer === 'lost') return answer
    if (outcome.close !== undefined) return 'over'
    if (outcome.waits?.kind === 'models' || outcome.waits?.kind === 'budget') return 'waits'
  }
}

type Taken = 'idle' | 'lost' | 'waits' | (StepOutcome & { consumed: number })
type Recorded = { record: DecisionRecord; hash: string }

async function takeStep(run: Run, step: Step, deps: StepDeps, signal: AbortSignal): Promise<Taken> {
  const reply = await replyOf(run, step, deps)
  const inbox = step.inbox.slice(0, reply?.record.heard ?? step.inbox.length)
  const heard = { ...step, inbox }
  const files = await filesOfItems(run, heard, deps.objects)
  const state = drainInbox(step.state, inbox, { counts: step.counts, files, now: Date.now() })
  const told = [...approvalsIn(heard, state, deps.origin), ...staleIn(heard, state, deps.origin)]
  const done = (outcome: StepOutcome): Taken => {
    const waits =
      outcome.close === undefined && waitsForApproval(outcome.state) ? { kind: 'approval' as const } : undefined
    return { waits, ...outcome, events: [...told, ...outcome.events], consumed: inbox.length }
  }
  const { approval, dryRun: isDry } = run.request
  const how = { ...madeBy(run), approves: approval === 'plan', isDry, decidedBy: step.decidedBy }
  const decided = (recorded: Recorded) =>
    done(outcomeOfDecision({ ...state, broken: undefined }, recorded, { ...how, now: Date.now(), origin: deps.origin }))
  if (reply !== undefined) return decided(reply)
  const next = nextWithoutModel(run, step, state)
  if (next.kind === 'commit') return done(next.outcome)
  // A decision after an approval or a push follows from its event, which is in the ledger before that.
  if (next.kind === 'rest' || told.length > 0)
    return inbox.length === 0 ? 'idle' : done({ state, dispatch: [], events: [] })
  const asked = { run, step, state, question: next.question }
  const { token } = step
  const of = { by: 'agenda', token } as const
  const spending = openSpending(run, (tokens) => deps.ledger.reserve(run.runId, { of, tokens }))
  const answer = await ask(asked, { ...deps, spending }, signal).catch((error: unknown) =>
    withoutPlanner(run, step, { error, spending, deps, signal }),
  )
  return typeof answer === 'object' && 'record' in answer ? noteAndCommit(answer.record) : answer

  async function noteAndCommit(record: DecisionRecord): Promise<Taken> {
    const hash = await putDecisionRecord(deps.objects, run, record)
    const { promptTokens, completionTokens } = record.usage
    const noting = { token, version: step.version, recordHash: hash, tokens: promptTokens + completionTokens }
    const noted = await deps.ledger.noteReply(run.runId, noting)
    return noted === 'lost' ? noted : decided({ record, hash })
  }
}

async function replyOf(
  { projectId, runId }: Run,
  { reply }: Step,
  { objects }: StepDeps,
): Promise<Recorded | undefined> {
  if (reply === null) return undefined
  return { record: await getDecisionRecord(objects, { projectId, runId, hash: reply }), hash: reply }
}

/** Counts what the run has made so far: a new one of either is progress, another wording is not. */
function madeBy({ counts, findings }: Run) {
  return { progress: counts.succeeded + findings }
}

function approvalsIn({ state, decidedBy }: Step, { approval }: AgendaState, origin: EventOrigin): NewEvent[] {
  if (approval?.by === undefined || state.approval?.at === approval.at) return []
  const data = { plan_hash: approval.plan_hash, by: approval.by }
  const follows = decidedBy === undefined ? {} : { causationSeq: decidedBy }
  return [{ event: 'plan.approved', ...ofConductor(origin), ...follows, data }]
}

type Next =
  | { kind: 'commit'; outcome: StepOutcome }
  /** Something is under way, or somebody is waited for. */
  | { kind: 'rest' }
  | { kind: 'ask'; question: PlannerQuestion }

const mostFruitless = 2

function nextWithoutModel(run: Run, { counts }: Step, state: AgendaState): Next {
  if (state.bootstrap === null) return { kind: 'ask', question: 'bootstrap' }
  if (run.request.dryRun) {
    const isCounted = state.items.every(({ item_id: id }) => counts.get(id)?.estimate || counts.get(id)?.fault)
    if (!isCounted) return { kind: 'rest' }
    return { kind: 'commit', outcome: { state, dispatch: [], close: { kind: 'done' }, events: [] } }
  }
  const begun = beginReady(state)
  if (begun.dispatch.length > 0) return { kind: 'commit', outcome: { ...begun, events: [] } }
  if (isActive(state)) return { kind: 'rest' }
  if (state.heard?.some(({ kind }) => kind === 'said')) return { kind: 'ask', question: 'refine' }
  // Of a plan that a push has touched as a whole nothing is left to approve.
  if (waitsForApproval(state) && state.items.some(({ status }) => status === 'waiting')) return { kind: 'rest' }
  const fruitless = fruitlessBefore(state, madeBy(run).progress)
  if (fruitless < mostFruitless) return { kind: 'ask', question: 'decide' }
  const reason = `the last ${fruitless} decisions brought no new change and no new finding`
  return { kind: 'commit', outcome: { ...blocked(state, 'POLICY_004', reason), events: [] } }
}

/** The claim is renewed while the model is asked, which may take minutes. */
async function ask(
  { run, step, state, question }: { run: Run; step: Step; state: AgendaState; question: PlannerQuestion },
  deps: StepDeps & { spending: Spending },
  signal: AbortSignal,
): Promise<{ record: DecisionRecord }> {
  const { runId, projectId, bundleHashes } = run
  const claim = { token: step.token, leaseMs: deps.leaseMs }
  const stopRenewing = repeatEvery(deps.leaseMs / 3, () => deps.ledger.claimStep(runId, claim))
  try {
    const bundles = await Promise.all((bundleHashes ?? []).map((hash) => deps.bundle(projectId, hash)))
    const capabilities = bundles.map(({ file }) => file)
    const asked = { run, state, question, capabilities }
    const nameable = { state, capabilities: capabilities.map(({ name }) => name), lastSeq: run.seq }
    const faults = async (decision: PlannerDecision) =>
      decisionFaults(decision, { ...nameable, ...(await citedIn(citationsOf(decision), run, deps)) })
    const view = await plannerView(asked, deps)
    const record = await askPlanner({ ...asked, view, heard: step.inbox.length, faults }, deps, signal)
    const { outcome } = record
    deps.onDecision?.(question, outcome.kind === 'decided' ? outcome.decision.kind : outcome.kind)
    return { record }
  } finally {
    await stopRenewing()
  }
}

function citationsOf(decision: PlannerDecision) {
  return decision.kind === 'complete' ? decision.answer : { paths: [], findings: [] }
}

type Failed = { error: unknown; spending: Spending; deps: StepDeps; signal: AbortSignal }

const mostBroken = 5

/**
 * Waits for the model, and for tokens, as operations wait for theirs, also where a few of its answers break off. Without a model it then blocks the
 * run: no rule decides in its place. A request that every server refuses is not sent again.
 */
async function withoutPlanner(run: Run, step: Step, { error, spending, deps, signal }: Failed): Promise<Taken> {
  const fault = asAppError(error, 'TOOL_004')
  const events = spentOn(fault, spending, deps.origin)
  const told = { state: step.state, dispatch: [], events, consumed: 0 }
  const before = run.conductor?.kind === 'open' ? run.conductor.waits : null
  if (fault.code === 'LIMIT_004') {
    const needs = spending.lacking
    const fits = run.budget === null || run.budget - run.tokens >= needs
    const isNoted = before?.kind === 'budget' && (run.usedBudgets.length > 0 || (fits && before.needs >= needs))
    if (isNoted && events.length === 0) return 'waits'
    return { ...told, waits: { kind: 'budget', needs } }
  }
  if (signal.aborted || !fault.code.startsWith('AGENT_')) {
    if (events.length > 0) await deps.ledger.commitStep(run.runId, { ...step, ...told, waits: before ?? undefined })
    throw fault
  }
  deps.log.warn('the model that decides about a run does not answer', { run_id: run.runId, error: fault })
  const waits = before?.kind === 'models' ? before : undefined
  const waitedMs = waits === undefined ? 0 : Date.now() - waits.since
  const isBroken = fault.code === 'AGENT_008'
  const broken = (step.state.broken ?? 0) + (isBroken ? 1 : 0)
  const isAway = isBroken || fault instanceof ModelUnavailable
  if (!isAway || waitedMs > deps.awayLimitMs || broken >= mostBroken) {
    const seconds = Math.round(waitedMs / 1000)
    const away =
      broken >= mostBroken ? `has broken off ${broken} answers in a row` : `has not answered for ${seconds} s`
    const reason = `the model that decides ${isAway ? away : 'cannot be asked'}: ${fault.message}`
    return { ...told, ...blocked({ ...step.state, broken: undefined }, 'POLICY_001', reason) }
  }
  if (waits !== undefined && events.length === 0 && !isBroken) return 'waits'
  return { ...told, state: { ...step.state, broken }, waits: { kind: 'models', model: deps.plannerName } }
}

/** Tells what answers have cost of which no decision comes. */
function spentOn({ code, message }: AppError, spending: Spending, origin: EventOrigin): NewEvent[] {
  const cost = spending.cost()
  if (cost.prompt_tokens + cost.completion_tokens === 0) return []
  const data = { error_code: code, reason: message, ...cost }
  return [{ event: 'conductor.failed', ...ofConductor(origin), status: 'error', errorCode: code, data }]
}
