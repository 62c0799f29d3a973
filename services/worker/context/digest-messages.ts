import { isRecord, parseJson } from '#domain/json.ts'
import type { Message } from '#domain/turn.ts'
import { maxActions, type Action } from './agent-context.ts'
import { boundedSection } from './bounded-section.ts'
import { trackSection } from './render-context.ts'

/** About 500 tokens: what is left out to make room must not take much of it. */
const maxCharacters = 2_000

/**
 * What was done in messages that are left out of a conversation: each call with its outcome and summary, and what the
 * model was told, oldest first, in at most `maxCharacters`; when that is too little, the newest. Empty when nothing was
 * done. Out of the messages alone: the same ones give the same text.
 */
export function digestOf(leftOut: readonly Message[]): string {
  const actions = actionsIn(leftOut)
  const shown = actions.slice(-maxActions)
  const track = { actions: shown, before: actions.length - shown.length }
  return boundedSection(trackSection('## Done so far, in messages that are left out', track), maxCharacters)
}

function actionsIn(messages: readonly Message[]): Action[] {
  const actions: (Action & { callId?: string })[] = []
  for (const message of messages) {
    if (message.role === 'assistant') {
      for (const { id, name, arguments: given } of message.toolCalls)
        actions.push({ callId: id, tool: name, arguments: given, summary: '' })
    } else if (message.role === 'tool') {
      const at = actions.findLastIndex(({ callId }) => callId === message.toolCallId)
      const action = actions[at]
      if (action !== undefined) actions[at] = { ...action, ...answerIn(message.content) }
    } else if (message.role === 'user') {
      actions.push({ tool: 'you were told', arguments: '', summary: message.content })
    }
  }
  return actions
}

/** Of an answer that was clipped, the beginning is left. */
const clippedAnswer = /^\{"outcome":"(\w+)","summary":("(?:[^"\\]|\\.)*")/

/** A tool's answer says how it went; what is no such answer is the loop's own words. */
function answerIn(content: string): Pick<Action, 'outcome' | 'summary'> {
  const whole = parseJson(content)
  const [, outcome, quoted = ''] = clippedAnswer.exec(content) ?? []
  const answer = isRecord(whole) ? whole : { outcome, summary: parseJson(quoted) }
  if (typeof answer['summary'] !== 'string') return { summary: content }
  const { summary } = answer
  return typeof answer['outcome'] === 'string' ? { outcome: answer['outcome'], summary } : { summary }
}
