import { maxActions, type Action, type AgentContext, type LastError } from './agent-context.ts'
import { recordIn, textIn, type ContextEvent } from './context-event.ts'

export type OwnTrack = {
  take(event: ContextEvent): void
  folded(): Omit<AgentContext, 'longTrack'>
}

/** What of a context an operation's own events make. An attempt that begins anew forgets all but what went wrong last. */
export function openOwnTrack(): OwnTrack {
  const actions = openActions()
  const knowledge = new Map<string, unknown>()
  let lastError: LastError | undefined
  /** How the same thing went again decides whether an error is still one. */
  const judge = (of: string, { status, errorCode, data }: ContextEvent) => {
    if (status === 'error') lastError = { of, ...codeOf(errorCode), reason: firstText(data, reasons) }
    else if (lastError?.of === of) lastError = undefined
  }
  return {
    take(event) {
      const { event: name, data, toolName = '' } = event
      if (name === 'operation.started' && data['resumes'] === undefined) {
        actions.clear()
        knowledge.clear()
      } else if (name === 'tool.called') {
        actions.called(event, toolName)
      } else if (name === 'tool.returned') {
        actions.answered(event, toolName, textIn(data, 'outcome'))
        judge(toolName, event)
        for (const [key, value] of Object.entries(recordIn(data, 'knowledge'))) {
          knowledge.delete(key)
          knowledge.set(key, value)
        }
      } else if (name === 'submission.received') {
        actions.answered(event, 'submit_result', submissionState(event))
        judge('submit_result', event)
      } else if (name === 'turn.finished' && event.status === 'error') {
        actions.answered(event, 'reply', 'no call')
        judge('model', event)
      } else if (name === 'model.responded') judge('model', event)
      else if (name === 'operation.ended') judge('operation', event)
    },
    folded: () => ({ lastError, shortTrack: actions.track(), knowledge }),
  }
}

/** Where an event says what was wrong; else it sums up what was done. */
const reasons = ['refused', 'unverified', 'reason', 'summary']

function firstText(data: ContextEvent['data'], names: readonly string[]): string {
  return names.map((name) => textIn(data, name)).find((text) => text !== '') ?? ''
}

/** One that did not hold says success itself. */
function submissionState({ data }: ContextEvent): string {
  return textIn(data, 'unverified') === '' ? textIn(data, 'status') || 'refused' : 'unverified'
}

type Call = { id: string; action: Action; isAnswered: boolean }

/** Calls with their answers. Ids may come again, as those of some servers do in every turn. */
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
    /** Of a call that waited for a person this comes twice. */
    called({ data }: ContextEvent, tool: string): void {
      underway(textIn(data, 'call_id'), tool).action.arguments = textIn(data, 'arguments')
    },
    answered({ data, errorCode }: ContextEvent, tool: string, outcome: string): void {
      const call = underway(textIn(data, 'call_id'), tool)
      const summary = firstText(data, reasons)
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
