import { z } from 'zod'
import { SkippedFile } from '#domain/code-node.ts'
import { isTold, summarizeEvent, workOf } from '#domain/timeline/summarize-event.ts'
import type { EventView } from '#schemas/event-schema.ts'
import {
  emptyAgent,
  emptyProgress,
  shownPhases,
  type AgentProgress,
  type OpenQuestion,
  type ProgressState,
  type ShownPhase,
} from './progress-state.ts'

const mostLines = { recent: 5, findings: 3 }

const Count = z.number().catch(0)
const Skipped = z.array(SkippedFile).catch([])
const Texts = z.array(z.string()).catch([])
const CountsByAgent = z.record(z.string(), z.number()).catch({})
const Text = z.string().optional().catch(undefined)
const Call = z.object({ tool: z.string(), arguments: z.string() }).optional().catch(undefined)

/** Returns the state after one more event. Events must be folded in the order of their numbers, each once. */
export function foldProgress(state: ProgressState, event: EventView): ProgressState {
  const isFinding = event.event === 'finding.reported'
  const line = isFinding || isTold(event) ? summarizeEvent(event) : undefined
  const list = isFinding ? 'findings' : 'recent'
  const seen: ProgressState = {
    ...state,
    ...(line !== undefined && { [list]: [...state[list], line].slice(-mostLines[list]) }),
    startedAtMs: state.startedAtMs ?? Date.parse(event.ts),
    lastAtMs: Date.parse(event.ts),
  }
  return event.operation_id ? foldOperation(seen, event) : foldRun(seen, event)
}

function foldRun(state: ProgressState, event: EventView): ProgressState {
  const { data } = event
  switch (event.event) {
    case 'run.started':
      return { ...state, status: 'running' }
    case 'run.reopened':
      return { ...emptyProgress(state.runId), status: 'running', recent: state.recent, models: state.models }
    case 'snapshot.stored':
      return {
        ...state,
        phase: later(state.phase, 'discovery'),
        files: Count.parse(data['files']),
        skippedFiles: Skipped.parse(data['skipped_files']),
      }
    case 'nodes.discovered':
      return {
        ...state,
        phase: later(state.phase, 'planning'),
        nodes: Count.parse(data['nodes']),
        skippedFiles: [...state.skippedFiles, ...Skipped.parse(data['skipped_files'])],
      }
    case 'run.planned': {
      const total = Count.parse(data['operations'])
      return { ...state, phase: later(state.phase, 'execution'), isPlanned: true, total }
    }
    case 'setup.started':
      return { ...state, settingUp: Text.parse(data['command']) }
    case 'setup.finished':
      return { ...state, settingUp: undefined }
    case 'operations.repeated':
      return withRepeated(state, Count.parse(data['operations']))
    case 'run.composed':
      return composed(state, data)
    case 'agenda.decided':
    case 'conductor.decided':
      return noteModel({ ...state, isConducted: true }, Text.parse(data['model']))
    case 'plan.approved':
      return { ...state, approvedAtMs: Date.parse(event.ts) }
    case 'item.started':
      return { ...state, total: (state.total ?? 0) + Count.parse(data['operations']) }
    case 'human_input.requested':
      return { ...state, questions: [...state.questions, questionOf(event)] }
    case 'human_input.answered':
      return withoutQuestion(state, event)
    case 'run.completed':
      return { ...state, phase: 'review', status: 'completed' }
    default:
      return { ...state, status: badEnds[event.event] ?? state.status }
  }
}

const badEnds: Readonly<Partial<Record<EventView['event'], ProgressState['status']>>> = {
  'run.failed': 'failed',
  'run.blocked': 'blocked',
  'run.cancelled': 'cancelled',
}

function composed(state: ProgressState, data: EventView['data']): ProgressState {
  const left = withLeftOut(state, CountsByAgent.parse(data['conflicts_by_agent']))
  return { ...left, phase: 'review', seen: undefined, patchFiles: Count.parse(data['files']) }
}

/** The run executes again, and is composed once more after that. */
function withRepeated(state: ProgressState, count: number): ProgressState {
  return {
    ...state,
    seen: undefined,
    phase: 'execution',
    total: (state.total ?? 0) + count,
    repeated: state.repeated + count,
  }
}

function foldOperation(state: ProgressState, event: EventView): ProgressState {
  switch (event.event) {
    case 'operation.started':
      return withAgent({ ...state, phase: later(state.phase, 'execution') }, event, started)
    case 'operation.retried':
    case 'operation.suspended':
      return withAgent(state, event, stopped)
    case 'human_input.requested':
      return { ...state, questions: [...state.questions, questionOf(event)] }
    case 'operation.resumed':
      return withoutQuestion(state, event)
    case 'operation.skipped':
      return withAgent(withoutQuestion(state, event), event, (agent) =>
        counted(agent, event.data['status'] === 'cancelled' ? 'cancelled' : 'skipped'),
      )
    case 'operation.ended':
      return endOperation(state, event)
    case 'model.responded':
      return noteModel(state, Text.parse(event.data['model']))
    case 'change_set.created':
      return { ...state, changeSets: state.changeSets + 1 }
    default:
      return state
  }
}

/** An operation that waits for an answer is not counted as running when it ends. */
function endOperation(state: ProgressState, event: EventView): ProgressState {
  const wasWaiting = state.questions.some(({ operationId }) => operationId === event.operation_id)
  const change = (agent: AgentProgress) => ended(wasWaiting ? agent : stopped(agent), event)
  return withAgent(withoutQuestion(state, event), event, change)
}

function questionOf(event: EventView): OpenQuestion {
  const { data, operation_id: operationId = '' } = event
  const requestId = Text.parse(data['request_id']) ?? ''
  const text = Text.parse(data['question']) ?? ''
  const call = Call.parse(data['call'])
  return { requestId, operationId, work: workOf(event), text, choices: Texts.parse(data['choices']), call }
}

function withoutQuestion(state: ProgressState, event: EventView): ProgressState {
  if (state.questions.length === 0) return state
  const { operation_id: id, data } = event
  const isOver = ({ operationId, requestId }: OpenQuestion) => operationId === id || requestId === data['request_id']
  return { ...state, questions: state.questions.filter((question) => !isOver(question)) }
}

function started(agent: AgentProgress): AgentProgress {
  return { ...agent, running: agent.running + 1 }
}

function stopped(agent: AgentProgress): AgentProgress {
  return { ...agent, running: Math.max(0, agent.running - 1) }
}

function ended(agent: AgentProgress, { data, duration_ms: ms = 0 }: EventView): AgentProgress {
  const tokens = agent.tokens + Count.parse(data['tokens'])
  const requests = agent.requests + Count.parse(data['turns'])
  const findings = agent.findings + Count.parse(data['findings'])
  return { ...counted(agent, endedAs(data['status'])), requests, tokens, findings, workMs: agent.workMs + ms }
}

type EndColumn = 'succeeded' | 'unchanged' | 'skipped' | 'cancelled' | 'failed'

function counted(agent: AgentProgress, column: EndColumn): AgentProgress {
  return { ...agent, [column]: agent[column] + 1 }
}

/** The table's column: a blocked operation counts as failed. */
function endedAs(status: unknown): EndColumn {
  if (status === 'succeeded' || status === 'unchanged' || status === 'skipped' || status === 'cancelled') return status
  return 'failed'
}

function noteModel(state: ProgressState, model: string | undefined): ProgressState {
  if (model === undefined || state.models.includes(model)) return state
  return { ...state, models: [...state.models, model] }
}

/** An agent may have left-out change sets of an earlier generation, and no operation in this one. */
function withLeftOut(state: ProgressState, counts: Readonly<Record<string, number>>): ProgressState {
  const agents = { ...state.agents }
  for (const [name, leftOut] of Object.entries(counts)) agents[name] = { ...(agents[name] ?? emptyAgent()), leftOut }
  return { ...state, agents }
}

type AgentChange = (agent: AgentProgress) => AgentProgress

function withAgent(state: ProgressState, { agent: name = 'unknown' }: EventView, change: AgentChange): ProgressState {
  return { ...state, agents: { ...state.agents, [name]: change(state.agents[name] ?? emptyAgent()) } }
}

function later(left: ShownPhase, right: ShownPhase): ShownPhase {
  return shownPhases.indexOf(left) > shownPhases.indexOf(right) ? left : right
}
