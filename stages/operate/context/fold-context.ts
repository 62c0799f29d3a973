import type { Event, NewEvent } from '#domain/event.ts'
import { isRecord } from '#domain/json.ts'

/** The fields of an event that the fold reads. Both stored events and new ones have them. */
export type ContextEvent = Pick<Event, 'event' | 'data'> &
  Partial<Pick<NewEvent, 'status' | 'operationId' | 'nodeId' | 'agent' | 'toolName' | 'errorCode'>>

/** One call of an attempt. Without `outcome` it has no answer yet. */
export type Action = {
  tool: string
  arguments: string
  outcome?: string
  errorCode?: string
  summary: string
}

export type EarlierResult = {
  agent: string
  nodeId: string
  /** The node's name for a reader; undefined for the node of this operation. */
  node: string | undefined
  status: string
  summary: string
  errorCode?: string
}

export type LastError = {
  /** The tool, `submit_result`, `model`, or `operation` for an earlier attempt as a whole. */
  of: string
  errorCode?: string
  reason: string
}

/** Holds what is known before a turn of an operation, apart from its conversation. */
export type AgentContext = {
  /** Is undefined also when the same thing has succeeded since. */
  lastError: LastError | undefined
  /** The last `maxActions` of this attempt, oldest first; `before` is the number of earlier ones. */
  shortTrack: { actions: readonly Action[]; before: number }
  /** Collects the tools' `knowledge_delta`: the last value of each key, the newest key last. */
  knowledge: ReadonlyMap<string, unknown>
  /** Results on this node and related ones, the closest node first; of each agent and node the last result. */
  longTrack: readonly EarlierResult[]
}

export type ContextScope = {
  /** The operation whose context it is. Events that name no operation count as its own. */
  operationId?: string
  /** The operation's node, then the related ones, closest first. Results on other nodes are left out. */
  nodeIds?: readonly string[]
}

/** Folds the context of one operation from events of its run, in their order: the same events give the same context. */
export function foldContext(events: Iterable<ContextEvent>, scope: ContextScope = {}): AgentContext {
  const own = openOwnTrack()
  const results = new Map<string, EarlierResult>()
  const ranks = new Map(scope.nodeIds?.map((id, rank) => [id, rank]))
  for (const event of events) {
    if (event.operationId === undefined || event.operationId === scope.operationId) own.take(event)
    else if (event.event === 'operation.ended') {
      const rank = ranks.get(event.nodeId ?? '')
      if (rank !== undefined) results.set(`${rank} ${event.agent}`, resultOf(event, rank === 0))
    }
  }
  const rankOf = ({ nodeId }: EarlierResult) => ranks.get(nodeId) ?? 0
  const relevant = [...results.values()].filter(isRelevant)
  const longTrack = relevant.toSorted((left, right) => rankOf(left) - rankOf(right))
  return { ...own.folded(), longTrack }
}

const statusesOfWork = new Set(['succeeded', 'failed', 'blocked'])

function isRelevant({ node, status }: EarlierResult): boolean {
  return statusesOfWork.has(status) || (status === 'unchanged' && node === undefined)
}

function resultOf({ agent, nodeId, data }: ContextEvent, isOwnNode: boolean): EarlierResult {
  const [name, path, code] = [textIn(data, 'qualified_name'), textIn(data, 'path'), textIn(data, 'error_code')]
  return {
    agent: agent ?? 'an agent',
    nodeId: nodeId ?? '',
    node: isOwnNode ? undefined : name === path ? path : `${name} (${path})`,
    status: textIn(data, 'status'),
    summary: textIn(data, 'reason') || textIn(data, 'summary'),
    ...(code === '' ? {} : { errorCode: code }),
  }
}

/** The part that comes from the operation's own events. A new attempt keeps only the last error of those before it. */
function openOwnTrack() {
  const actions = openActions()
  const knowledge = new Map<string, unknown>()
  let lastError: LastError | undefined
  const noteError = (of: string, { status, errorCode, data }: ContextEvent) => {
    if (status === 'error') lastError = { of, ...codeOf(errorCode), reason: firstText(data, reasonFields) }
    else if (lastError?.of === of) lastError = undefined
  }
  return {
    take(event: ContextEvent) {
      const { event: name, data, toolName = '' } = event
      if (name === 'operation.started' && data['resumes'] === undefined) {
        actions.clear()
        knowledge.clear()
      } else if (name === 'tool.called') {
        actions.called(event, toolName)
      } else if (name === 'tool.returned') {
        actions.answered(event, toolName, textIn(data, 'outcome'))
        noteError(toolName, event)
        const learned = isRecord(data['knowledge']) ? data['knowledge'] : {}
        for (const [key, value] of Object.entries(learned)) {
          knowledge.delete(key)
          knowledge.set(key, value)
        }
      } else if (name === 'submission.received') {
        actions.answered(event, 'submit_result', submissionState(event))
        noteError('submit_result', event)
      } else if (name === 'turn.finished' && event.status === 'error') {
        actions.answered(event, 'reply', 'no call')
        noteError('model', event)
      } else if (name === 'model.responded') noteError('model', event)
      else if (name === 'operation.ended') noteError('operation', event)
    },
    folded: () => ({ lastError, shortTrack: actions.track(), knowledge }),
  }
}

const reasonFields = ['refused', 'unverified', 'reason', 'summary']

function firstText(data: ContextEvent['data'], names: readonly string[]): string {
  return names.map((name) => textIn(data, name)).find((text) => text !== '') ?? ''
}

/** The status of an unverified submission is `success`, so the reason decides. */
function submissionState({ data }: ContextEvent): string {
  return textIn(data, 'unverified') === '' ? textIn(data, 'status') || 'refused' : 'unverified'
}

type Call = { id: string; action: Action; isAnswered: boolean }

/** Suits a small model, which cannot tell more apart; more would be cut when they are rendered. */
const maxActions = 30

/** Calls with their answers. Ids are not unique: some servers use the same ones in every turn. */
function openActions() {
  let calls: Call[] = []
  const underway = (id: string, tool: string): Call => {
    const open = calls.findLast((call) => call.id === id && !call.isAnswered)
    if (open !== undefined) return open
    const call = { id, action: { tool, arguments: '', summary: '' }, isAnswered: false }
    calls.push(call)
    return call
  }
  return {
    clear: () => void (calls = []),
    /** Is called twice for a call that waited for a person. */
    called({ data }: ContextEvent, tool: string): void {
      underway(textIn(data, 'call_id'), tool).action.arguments = textIn(data, 'arguments')
    },
    answered({ data, errorCode }: ContextEvent, tool: string, outcome: string): void {
      const call = underway(textIn(data, 'call_id'), tool)
      const summary = firstText(data, reasonFields)
      call.action = { ...call.action, outcome, summary, ...codeOf(errorCode) }
      call.isAnswered = true
    },
    track: (): AgentContext['shortTrack'] => ({
      actions: calls.slice(-maxActions).map(({ action }) => action),
      before: Math.max(0, calls.length - maxActions),
    }),
  }
}

function codeOf(errorCode: string | undefined): { errorCode?: string } {
  return errorCode === undefined ? {} : { errorCode }
}

function textIn(data: ContextEvent['data'], name: string): string {
  const value = data[name]
  return typeof value === 'string' ? value : ''
}
