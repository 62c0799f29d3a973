import { parseJson } from '#domain/json.ts'
import type { RequestedCall, ToolDefinition, ToolResult } from '#domain/turn.ts'
import type { ToolRun } from '#objects/attempt-record.ts'
import { validateArguments } from '#tool-scripts/tool-arguments.ts'

export type ExecutedCall = { result: ToolResult; externals: ToolRun['externals'] }

export type Tool = {
  definition: ToolDefinition
  /** `args` have passed the definition's schema. A throw is ours, or the signal's, and ends the attempt. */
  run(args: Record<string, unknown>, signal: AbortSignal): Promise<ExecutedCall>
}

/** The tools of one attempt. `definitions` is one array for the bundle's life: what is derived from it is cached. */
export type ToolSet = {
  definitions: readonly ToolDefinition[]
  get(name: string): Tool | undefined
}

/** Runs one call. What the model got wrong, or the tool could not do, is a result it can read; never an exception. */
export async function executeToolCall(call: RequestedCall, tools: ToolSet, signal: AbortSignal): Promise<ExecutedCall> {
  const tool = tools.get(call.name)
  if (tool === undefined) {
    const known = tools.definitions.map((definition) => definition.name).join(', ')
    return refused('TOOL_001', `There is no tool named "${call.name}". The tools are: ${known}.`)
  }
  const given = call.arguments.trim() === '' ? {} : parseJson(call.arguments)
  if (given === undefined) return refused('AGENT_009', 'The arguments are not valid JSON; the tool was not run.')
  const args = validateArguments(tool.definition.parameters, given)
  if (!args.ok) return refused('TOOL_002', args.faults.join('; '))
  return tool.run(args.args, signal)
}

/** A result that says the call was not carried out, and why. */
export function refused(errorCode: string, error: string): ExecutedCall {
  return {
    result: { outcome: 'error', result: null, summary: error, knowledgeDelta: {}, error, errorCode },
    externals: [],
  }
}
