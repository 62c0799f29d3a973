import type { Message, RequestedCall, ToolResult } from '#domain/turn.ts'
import { submitToolName } from '#bundles/tool-definition.ts'
import { openCallIds } from '#models/wire/from-openai.ts'
import type { AgentSettings } from './agent-settings.ts'
import type { Transcript } from './open-transcript.ts'

type OneTurn = {
  transcript: Pick<Transcript, 'messages' | 'toolRuns'>
  settings: Pick<AgentSettings, 'oneTurn'>
}

/** Returns the calls that code makes in place of a model with one turn; empty where it is the model's turn. They follow from the record alone. */
export function callsByCode({ transcript, settings }: OneTurn): RequestedCall[] {
  if (settings.oneTurn === undefined) return []
  const { gather, carryOut } = settings.oneTurn
  const { messages, toolRuns } = transcript
  const last = toolRuns.at(-1)
  if (last === undefined)
    return callsOf(
      gather.map((name) => ({ name, arguments: '{}' })),
      messages,
    )
  if (last.name !== carryOut && last.result.outcome !== 'error') return []
  return callsOf([{ name: submitToolName, arguments: JSON.stringify(submissionOfResult(last.result)) }], messages)
}

function callsOf(calls: readonly Pick<RequestedCall, 'name' | 'arguments'>[], messages: readonly Message[]) {
  const newId = openCallIds(messages)
  return calls.map((call): RequestedCall => ({ id: newId(undefined), ...call, byCode: true }))
}

const maxSummary = 4000

function submissionOfResult({ outcome, summary, error = summary }: ToolResult) {
  const told = { summary: summary.slice(0, maxSummary) || 'done' }
  return outcome === 'error'
    ? { status: 'failed', ...told, error: error.slice(0, maxSummary) }
    : { status: 'success', ...told }
}
