import { type AgentFunnel, countFunnel } from '#change-sets/funnel.ts'
import { conflictsByAgent } from '#change-sets/name-conflicts.ts'
import { type ErrorCode, isErrorCode } from '#domain/error.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import type { EventData } from '#domain/events/event-table.ts'
import type { GateReport } from '#domain/gate.ts'
import { newToken, type RunId } from '#domain/ids.ts'
import type { OperationCost, PlannedOperation } from '#domain/operation.ts'
import type { CompositionProgress, Run } from '#domain/run.ts'
import { failRun } from '#store/ledger/run-stage.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { type Composition, conflictView, withoutTexts } from '#store/objects/composition.ts'
import { collectChanges, type CodesOfStatus, type Collected, selectProposed, setsOf } from './collect-changes.ts'
import { snakeKeys } from '#domain/wire-keys.ts'
import type { EvidenceTools } from '#stages/operate/evidence/evidence-checker.ts'
import { provedByOperation } from './file-proofs.ts'
import { keptOfItems, madeIn } from './made-sets.ts'
import { planRepeats } from './plan-repeats.ts'
import { acceptByPolicy } from './accept-by-policy.ts'
import type { PatchDeps } from './compose-patch.ts'
import { proveSets, type SelectedSets } from './prove-sets.ts'
import type { GateDeps, GateMemory } from './gate/run-gate.ts'
import { throughGate } from './gate/through-gate.ts'

export type CompositionDeps = PatchDeps & {
  ledger: PatchDeps['ledger'] & Pick<Ledger, 'cancel' | 'decide' | 'move' | 'planAgain'>
  evidence: EvidenceTools
  workerId: string
}

const noteEveryMs = 1_000
const atReview = { status: 'running', phase: 'review' } as const

/**
 * Ends a run whose operations have all ended: proves what their change sets come to, and completes or fails the run. Where sets collide or
 * have lost their base, their operations run once more first. Repeated, it changes nothing. A fault that stays fails the run.
 */
export async function composeRun(runId: RunId, deps: CompositionDeps, signal: AbortSignal): Promise<void> {
  const run = await deps.ledger.getRun(runId)
  if (run.status !== 'running' || run.phase !== 'review') return
  try {
    await complete(run, deps, signal)
  } catch (error) {
    const origin = { kind: 'worker', id: deps.workerId } as const
    await failRun(runId, error, { phases: ['review'], origin, signal, generation: run.generation }, deps.ledger)
  }
}

type Note = (progress: Partial<CompositionProgress>) => Promise<void>

/** Keeps in the run how far it is, at most once a second, and when the files or the gate begin: one step may take long. */
function openNotes({ runId, counts }: Run, { ledger }: Pick<CompositionDeps, 'ledger'>): Note {
  const composer = newToken()
  const operations = Object.values(counts).reduce((sum, count) => sum + count, 0)
  let progress: CompositionProgress = { operationsRead: 0, operations, filesProved: 0, files: 0 }
  let notes = 0
  let nextAt = -Infinity
  return async (more) => {
    const filesBegin = progress.files === 0 && (more.files ?? 0) > 0
    const gateBegins = progress.gateRuns === undefined && more.gateRuns !== undefined
    progress = { ...progress, ...more }
    if (performance.now() < nextAt && !filesBegin && !gateBegins) return
    nextAt = performance.now() + noteEveryMs
    const command = `composing ${composer} ${(notes += 1)}`
    const set = { composing: JSON.stringify(progress) }
    await ledger.move(runId, { from: [atReview], to: {}, command, set, events: [] })
  }
}

/** Limits how often somebody may decide while the run is composed; then what the policy would accept is left undecided. */
const maxTries = 5

async function complete(run: Run, deps: CompositionDeps, signal: AbortSignal): Promise<void> {
  const note = openNotes(run, deps)
  await note({})
  const onOperations = (operationsRead: number) => note({ operationsRead })
  const collected = await collectChanges(run, { ...deps, onOperations }, signal)
  const { totals, codes } = collected
  const onFiles = (filesProved: number, files: number) => note({ files, filesProved })
  const onRun = (gateRuns: number, gateMost: number) => note({ gateRuns, gateMost })
  const composed = await composeAndDecide(run, collected, { ...deps, onFiles, onRun }, signal)
  if (composed === undefined) return
  const { selected, composition, compositionKey, decisions } = composed
  const failure = failureOf(run, codes)
  const verdictOn = (id: string) => decisions.byChangeSet.get(id)?.verdict ?? 'pending'
  const funnel = Object.fromEntries(countFunnel(composition.made ?? [], verdictOn).map(funnelData))
  // Who plans, watches and asks about the run has used tokens, too, also while it was composed.
  const { tokensIn, tokensOut } = await deps.ledger.getRun(run.runId)
  const used = { ...totals, promptTokens: tokensIn, completionTokens: tokensOut }
  const closing = { changeSets: selected.length, used, composition, funnel, failure }
  const events = closingEvents(run, closing, { kind: 'worker', id: deps.workerId })
  const moved = await deps.ledger.move(run.runId, {
    from: [atReview],
    to: { status: failure?.status ?? 'completed' },
    // Another composer may have planned repeats since, which have ended by now: the run is composed once more then.
    generation: run.generation,
    command: 'complete',
    set: { compositionKey, ...(failure && { errorCode: failure.errorCode, reason: failure.reason }) },
    events,
  })
  if (moved !== 'refused' && decisions.last > 0) {
    await deps.ledger.notePatch(run.runId, { of: 'proposed', note: { decided: decisions.last, compositionKey } })
  }
}

type ComposeDeps = CompositionDeps & Required<Pick<SelectedSets, 'onFiles'>> & Pick<GateDeps, 'onRun'>

/** Composes what nobody has rejected, and accepts what the policy asks for. Undefined when operations run again. */
async function composeAndDecide(run: Run, collected: Collected, deps: ComposeDeps, signal: AbortSignal) {
  const { changes, nodes } = collected
  const others = setsOf(changes)
  const memory: GateMemory = { results: new Map() }
  for (let tries = 1; ; tries += 1) {
    const decisions = await deps.ledger.readDecisions(run.runId)
    const selected = selectProposed(changes, decisions)
    const sets = selected.map(({ set }) => set)
    const selection = {
      of: 'proposed',
      sets,
      others,
      nodeOf: async (id: string) => nodes.get(id),
      onFiles: deps.onFiles,
      provedBefore: provedByOperation(sets, deps.evidence.tools),
      madeOf: (conflicts: Composition['conflicts']) => {
        const made = madeIn(collected, conflicts, decisions)
        return { made, ...(run.request.objective !== undefined && { keptOfItems: keptOfItems(collected, made) }) }
      },
    } as const
    const proved = await proveSets(run, selection, deps, signal)
    const repeats = planRepeats({ selected, conflicts: proved.composition.conflicts, generation: run.generation })
    if (repeats.length > 0 && (await repeat(run, repeats, deps)) === 'planned') return undefined
    const gated = await throughGate(run, { sets, composition: proved.composition, memory }, deps, signal)
    const { composition, compositionKey } =
      gated === undefined ? proved : await proveSets(run, { ...selection, sets: gated.left, gated }, deps, signal)
    const composed = { selected, composition, compositionKey, decisions }
    if ((await acceptByPolicy(run, composed, deps)) || tries === maxTries) return composed
  }
}

async function repeat(
  { runId, generation }: Run,
  operations: readonly PlannedOperation[],
  { ledger, workerId }: ComposeDeps,
): Promise<'planned' | 'refused'> {
  const origin: EventOrigin = { kind: 'worker', id: workerId }
  const data = { operations: operations.length, reason: 'collided', generation: generation + 1 } as const
  const event = { event: 'operations.repeated', phase: 'review', origin, data } as const
  return ledger.planAgain(runId, { operations, event, generation })
}

type RunFailure = { status: 'failed' | 'blocked'; errorCode: ErrorCode; reason: string }

/**
 * Returns why its conductor has blocked the run; else the commonest code where no operation succeeded or was unchanged; of equally common
 * ones, the first in the alphabet.
 */
function failureOf({ counts, conductor }: Run, codes: CodesOfStatus): RunFailure | undefined {
  if (conductor?.kind === 'blocked') {
    const errorCode = isErrorCode(conductor.code) ? conductor.code : 'AGENT_011'
    return { status: 'blocked', errorCode, reason: conductor.reason }
  }
  const endings = (['failed', 'blocked', 'skipped'] as const).filter((status) => (counts[status] ?? 0) > 0)
  if (endings.length === 0 || (counts.succeeded ?? 0) + (counts.unchanged ?? 0) > 0) return undefined
  const most = codes[endings.find((status) => codes[status].size > 0) ?? 'failed']
  const [commonest] = [...most].toSorted(([left, times], [right, more]) => more - times || (left < right ? -1 : 1))
  const reason = `no operation ended well: ${endings.map((status) => `${counts[status]} ${status}`).join(', ')}`
  return { status: 'failed', errorCode: commonest?.[0] ?? 'AGENT_011', reason }
}

function funnelData({ agent, ...counts }: AgentFunnel) {
  return [agent, snakeKeys(counts)] as const
}

/** Events are short: the composition has the names. */
function gateData({ outputs: _outputs, failing: _failing, reason, ...report }: GateReport) {
  return snakeKeys({ ...report, ...(reason && { reason }) })
}

/** An event lists no more conflicts than this; the composition has all. */
const namedConflicts = 50

type Closing = {
  changeSets: number
  used: Pick<OperationCost, 'turns' | 'promptTokens' | 'completionTokens'>
  composition: Composition
  /** Holds the figures of each agent. */
  funnel: EventData<'run.composed'>['funnel']
  failure: RunFailure | undefined
}

function closingEvents(run: Run, closing: Closing, origin: EventOrigin): NewEvent[] {
  const { changeSets, used, composition, funnel, failure } = closing
  const { files, conflicts } = composition
  const composed = {
    change_sets: changeSets,
    files: files.length,
    conflicts: conflicts.slice(0, namedConflicts).map((conflict) => conflictView(withoutTexts(conflict))),
    conflicts_total: conflicts.length,
    conflicts_by_agent: conflictsByAgent(conflicts),
    funnel,
    ...(composition.gate && { gate: gateData(composition.gate) }),
  }
  const ended = {
    operations: run.counts,
    change_sets: changeSets,
    files_changed: files.length,
    conflicts: conflicts.length,
    ...snakeKeys(used),
  }
  const common = { phase: 'review', origin } as const
  const composedEvent: NewEvent = { ...common, event: 'run.composed', data: composed }
  if (failure === undefined) return [composedEvent, { ...common, event: 'run.completed', data: ended }]
  const { errorCode, reason, status } = failure
  const data = { error_code: errorCode, reason, ...ended }
  const fault = { ...common, status: 'error', errorCode, data } as const
  if (status === 'blocked') return [composedEvent, { ...fault, event: 'run.blocked' }]
  return [composedEvent, { ...fault, event: 'run.failed' }]
}
