import type { Message, RequestedCall, ToolResult } from '#domain/turn.ts'
import { submitToolName } from '#bundles/tool-definition.ts'
import type { ToolRun } from '#store/objects/attempt-record.ts'
import { openCallIds } from '#models/wire/from-openai.ts'
import type { AgentSettings } from './agent-settings.ts'
import type { Transcript } from './open-transcript.ts'

type CodedLoop = {
  transcript: Pick<Transcript, 'messages' | 'toolRuns'>
  settings: Pick<AgentSettings, 'gather' | 'submitting' | 'oneTurn'>
}

/**
 * Returns the calls that code makes in place of the model: at first those that gather, and the submission after a call that ends the
 * work. It is empty where it is the model's turn. The calls follow from the record of the attempt, so an attempt that continues it goes
 * on in the same place.
 */
export function callsByCode({ transcript: { messages, toolRuns }, settings }: CodedLoop): RequestedCall[] {
  const last = toolRuns.at(-1)
  if (last === undefined) {
    const gathering = settings.gather.map((name) => ({ name, arguments: '{}' }))
    return callsOf(gathering, messages)
  }
  if (!endsWork(last, settings)) return []
  return callsOf([{ name: submitToolName, arguments: JSON.stringify(submissionOfResult(last.result)) }], messages)
}

/** A model that has one turn cannot mend what failed, so any error ends its work. */
function endsWork({ name, result }: ToolRun, { submitting, oneTurn }: CodedLoop['settings']): boolean {
  if (oneTurn !== undefined) return name === oneTurn.carryOut || result.outcome === 'error'
  return submitting.includes(name) && result.outcome === 'success'
}

function callsOf(calls: readonly Pick<RequestedCall, 'name' | 'arguments'>[], messages: readonly Message[]) {
  const newId = openCallIds(messages)
  return calls.map((call): RequestedCall => ({ id: newId(undefined), ...call, byCode: true }))
}

/** The longest summary that a submission may have. */
const maxSummary = 4000

function submissionOfResult({ outcome, summary, error = summary }: ToolResult) {
  const short = { summary: summary.slice(0, maxSummary) || 'done' }
  return outcome === 'error'
    ? { status: 'failed', ...short, error: error.slice(0, maxSummary) }
    : { status: 'success', ...short }
}
