import type { PlanningItem } from '#domain/agenda.ts'
import { begunAt, isEnded, type Run } from '#domain/run.ts'
import { doingText, plural, waitingText } from '#domain/timeline/words.ts'
import { type LiveOperation, type LiveState, stepOf } from '#store/ledger/live-state.ts'
import { snakeKeys } from '#domain/wire-keys.ts'
import type { ActiveOperation, DoingKind, EstimatedEnd, liveShape } from '#schemas/live-schema.ts'
import type { WaitingFor } from '#schemas/waiting-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'
import { isoTime } from '../../http/schema-parts.ts'

export const nothingMoves: LiveState = {
  shown: [],
  counts: { prepare: 0, slot: 0, model: 0, tool: 0, proof: 0, person: 0 },
  lastMinute: { operations: 0, tokensIn: 0, tokensOut: 0 },
}

type LiveView = Pick<RunView, keyof typeof liveShape>

/** Says what happens in a run at `now`, from what the ledger holds of its active operations alone. */
export function liveView(run: Run, live: LiveState, waitingFor: readonly WaitingFor[], now: number): LiveView {
  const { operations, tokensIn, tokensOut } = live.lastMinute
  return {
    current_step: currentStep(run, live.counts, waitingFor),
    active_operations: live.shown.map(activeView),
    active: live.counts,
    model_requests: live.counts.model,
    tokens_in: run.tokensIn,
    tokens_out: run.tokensOut,
    last_minute: { operations, tokens_in: tokensIn, tokens_out: tokensOut },
    estimated_end: waitingFor.length === 0 ? estimatedEnd(run, operations, now) : null,
  }
}

export function activeView({ operationId, bundle, doing, sinceMs, ...same }: LiveOperation): ActiveOperation {
  const isAsking = doing.kind === 'person'
  return {
    operation_id: operationId,
    agent: bundle,
    ...snakeKeys(same),
    status: isAsking ? 'waiting' : 'running',
    ...(!isAsking && { turn: doing.turn }),
    current_step: stepOf(doing),
    doing: doing.kind,
    ...(doing.kind === 'tool' && doing.what !== undefined && { tool: doing.what }),
    ...(isAsking && doing.request !== '' && { question: doing.request }),
    since: isoTime(isAsking ? sinceMs : doing.sinceMs),
  }
}

type Counts = LiveState['counts']

/** Says in words what a run does now; where nothing moves, what it waits for. */
export function currentStep(run: Run, active: Counts, waitingFor: readonly WaitingFor[]): string {
  const { status, phase, counts, stop, composing } = run
  if (isEnded(status)) return `has ended: ${status}`
  if (stop !== null) return 'stops: what runs is ended'
  if (status === 'queued') return 'waits until a discovery service takes it'
  switch (phase) {
    case 'snapshot':
      return "stores the repository's files"
    case 'discovery':
      return 'finds the code nodes'
    case 'planning':
      return 'plans the operations'
    case 'review':
      return composing === null ? 'waits until a worker composes its patch' : composingStep(composing)
    case 'execution': {
      const moving = movingStep(active)
      if (moving !== undefined) return moving
      const waits = waitingText(waitingFor)
      if (waits !== '') return waits
      const open = counts.ready + counts.dispatched
      if (open === 0 && run.conductor?.kind === 'open') return conductorStep(run.conductor)
      return open > 0 ? `waits until a worker takes one of ${plural(open, 'operation')}` : 'goes on to its patch'
    }
  }
}

function conductorStep({ planning: [next] }: { planning: readonly PlanningItem[] }): string {
  if (next === undefined) return 'decides what to do next'
  return `${next.estimate ? 'counts' : 'plans'} the operations of ${next.item_id}`
}

const movingKinds: readonly DoingKind[] = ['prepare', 'slot', 'model', 'tool', 'proof']

function movingStep(active: Counts): string | undefined {
  const parts = movingKinds.flatMap((kind) =>
    active[kind] > 0 ? [`${active[kind]} ${doingText(kind, active[kind])}`] : [],
  )
  return parts.length === 0 ? undefined : `works on operations: ${parts.join(', ')}`
}

function composingStep({
  operationsRead,
  operations,
  filesProved,
  files,
  gateRuns,
  gateMost,
}: NonNullable<Run['composing']>): string {
  if (gateRuns !== undefined)
    return `tries its patch: ${gateRuns} of at most ${plural(gateMost ?? gateRuns, 'run')} of the gate`
  if (files > 0) return `composes its patch: ${filesProved} of ${plural(files, 'file')} proved`
  return `composes its patch: ${operationsRead} of ${plural(operations, 'operation')} read`
}

const minuteMs = 60_000
/** A pace of fewer operations is chance. */
const enough = 5

/** Tells when the operations end if they go on as in the last minute; where few ended in it, as since the run began. */
function estimatedEnd(run: Run, lastMinute: number, now: number): EstimatedEnd | null {
  const { pending, ready, dispatched, running, waiting: _, ...ended } = run.counts
  const left = pending + ready + dispatched + running
  if (isEnded(run.status) || run.phase !== 'execution' || left === 0) return null
  const sinceMs = Math.max(1, now - begunAt(run))
  // Of a run that was reopened, most ended in the generations before.
  const done = run.generation === 1 ? Object.values(ended).reduce((sum, count) => sum + count, 0) : 0
  const isRecent = lastMinute >= enough
  if (!isRecent && done < enough) return null
  const recentMs = Math.min(minuteMs, sinceMs)
  const perMs = isRecent ? lastMinute / recentMs : done / sinceMs
  const basis = isRecent
    ? `${lastMinute} ended in the last ${Math.round(recentMs / 1000)} s`
    : `${done} ended since the run began`
  const at = isoTime(Math.round(now + left / perMs))
  return { at, how: `${plural(left, 'operation')} left, ${basis}; the composition of the patch comes after that` }
}
