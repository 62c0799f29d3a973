import { isRecord } from '#domain/json.ts'
import { rehearsalLabel } from '#domain/model-kind.ts'
import type { Conversation } from './conversation.ts'
import { plannerDetails } from './planner-policies.ts'
import { call, type Move } from './rule.ts'

const troubleLine = /^Trouble looked for: (\w+)$/m

/** Answers what is asked for by the form of a submission alone: an answer about a run, a review, a decision. Undefined where nothing is. */
export function typedMove(model: string, conversation: Conversation): Move | undefined {
  const form = formOf(conversation.tools)
  const details = form === undefined ? undefined : detailsFor(form, model, conversation)
  if (details === undefined) return undefined
  return call('submit_result', { status: 'success', summary: `Answered by the ${rehearsalLabel}.`, details })
}

/** Names the form, where nothing else is offered. */
function formOf(tools: Conversation['tools']): string | undefined {
  const submit = tools.get('submit_result')
  if (tools.size !== 1 || !isRecord(submit) || !isRecord(submit['properties'])) return undefined
  const { details } = submit['properties']
  return isRecord(details) && typeof details['title'] === 'string' ? details['title'] : undefined
}

/** Neither a question nor a run is read, nothing is judged, and every trouble that is shown is raised. */
function detailsFor(form: string, model: string, conversation: Conversation): object | undefined {
  if (form === 'ask') {
    const text = `This is the ${rehearsalLabel}: nobody has read the question, or the run.`
    return { text, events: [1], paths: [], findings: [] }
  }
  if (form !== 'review') return plannerDetails(model, conversation)
  const kind = troubleLine.exec(conversation.userText)?.[1] ?? ''
  const rationale = 'The rehearsal model raises every trouble that it is shown.'
  const escalation = { kind, urgency: 'medium', affected: [], mitigation: 'notify', rationale, dedup_key: kind }
  return { escalations: [escalation] }
}
