import { z } from 'zod'
import { SkippedFile } from '#domain/code-node.ts'
import type { WireEvent } from '../api-views.ts'
import { nodePlace } from '../node-place.ts'
import { emptyAgent, shownPhases, type AgentProgress, type ProgressState, type ShownPhase } from './progress-state.ts'
import { describeEvent } from './describe-event.ts'

const recentKept = 5
const failuresKept = 10

const Count = z.number().catch(0)
const Skipped = z.array(SkippedFile).catch([])
const Words = z.string().optional().catch(undefined)

/** The state after one more event. Events come in the order of their numbers, each once. */
export function foldProgress(state: ProgressState, event: WireEvent): ProgressState {
  const words = describeEvent(event)
  const seen: ProgressState = {
    ...state,
    recent: words === undefined ? state.recent : [...state.recent, words].slice(-recentKept),
    startedAtMs: state.startedAtMs ?? Date.parse(event.ts),
    lastAtMs: Date.parse(event.ts),
  }
  return event.operation_id ? foldOperation(seen, event) : foldRun(seen, event)
}

function foldRun(state: ProgressState, event: WireEvent): ProgressState {
  const { data } = event
  switch (event.event) {
    case 'run.started':
      return { ...state, status: 'running' }
    case 'snapshot.stored':
      return {
        ...state,
        phase: later(state.phase, 'discovery'),
        files: Count.parse(data['files']),
        passedOver: Skipped.parse(data['skipped_files']),
      }
    case 'nodes.discovered':
      return {
        ...state,
        phase: later(state.phase, 'planning'),
        nodes: Count.parse(data['nodes']),
        passedOver: [...state.passedOver, ...Skipped.parse(data['skipped_files'])],
      }
    case 'run.planned':
      return { ...state, phase: later(state.phase, 'execution'), total: Count.parse(data['operations']) }
    case 'run.composed':
      return {
        ...state,
        phase: 'review',
        earlierChangeSets: Count.parse(data['earlier_change_sets']),
        patchFiles: Count.parse(data['files']),
      }
    case 'run.completed':
      return { ...state, phase: 'review', status: 'completed' }
    case 'run.failed':
      return { ...state, status: 'failed', errorCode: event.error_code, reason: Words.parse(data['reason']) }
    case 'run.cancelled':
      return { ...state, status: 'cancelled' }
    default:
      return state
  }
}

function foldOperation(state: ProgressState, event: WireEvent): ProgressState {
  switch (event.event) {
    case 'operation.started':
      return withAgent({ ...state, phase: later(state.phase, 'execution') }, event, (agent) => ({
        ...agent,
        running: agent.running + 1,
      }))
    case 'operation.retried':
      return withAgent(state, event, stopped)
    case 'operation.skipped':
      return withAgent(state, event, (agent) =>
        counted(agent, event.data['status'] === 'cancelled' ? 'cancelled' : 'skipped'),
      )
    case 'operation.ended':
      return noteFailure(
        withAgent(state, event, (agent) => ended(stopped(agent), event)),
        event,
      )
    case 'model.responded':
      return noteModel(state, Words.parse(event.data['model']))
    case 'change_set.created':
      return { ...state, changeSets: state.changeSets + 1 }
    default:
      return state
  }
}

function stopped(agent: AgentProgress): AgentProgress {
  return { ...agent, running: Math.max(0, agent.running - 1) }
}

function ended(agent: AgentProgress, event: WireEvent): AgentProgress {
  const { data } = event
  return {
    ...counted(agent, endedAs(data['status'])),
    tokens: agent.tokens + Count.parse(data['tokens']),
    workMs: agent.workMs + (event.duration_ms ?? 0),
  }
}

type EndColumn = 'succeeded' | 'unchanged' | 'skipped' | 'cancelled' | 'failed'

function counted(agent: AgentProgress, column: EndColumn): AgentProgress {
  return { ...agent, [column]: agent[column] + 1 }
}

/** The table's column: what was blocked did not do its work either. */
function endedAs(status: unknown): EndColumn {
  if (status === 'succeeded' || status === 'unchanged' || status === 'skipped' || status === 'cancelled') return status
  return 'failed'
}

function noteFailure(state: ProgressState, event: WireEvent): ProgressState {
  if (endedAs(event.data['status']) !== 'failed' || state.failures.length >= failuresKept) return state
  const failure = {
    operationId: event.operation_id ?? '',
    agent: event.agent ?? '',
    place: nodePlace(Words.parse(event.data['path']) ?? '', Words.parse(event.data['qualified_name']) ?? ''),
    code: event.error_code ?? Words.parse(event.data['error_code']) ?? 'unknown',
    reason: Words.parse(event.data['reason']) ?? Words.parse(event.data['summary']) ?? '',
  }
  return { ...state, failures: [...state.failures, failure] }
}

function noteModel(state: ProgressState, model: string | undefined): ProgressState {
  if (model === undefined || state.models.includes(model)) return state
  return { ...state, models: [...state.models, model] }
}

function withAgent(
  state: ProgressState,
  event: WireEvent,
  change: (agent: AgentProgress) => AgentProgress,
): ProgressState {
  const name = event.agent ?? 'unknown'
  return { ...state, agents: { ...state.agents, [name]: change(state.agents[name] ?? emptyAgent()) } }
}

function later(one: ShownPhase, other: ShownPhase): ShownPhase {
  return shownPhases.indexOf(one) > shownPhases.indexOf(other) ? one : other
}
